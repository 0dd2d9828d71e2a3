import { resolve } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { eventType, startEventScenario } from '../support/http/eventScenario.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { eventually } from '../support/processes/lifetime.ts';

const program = resolve(import.meta.dirname, 'eventClients.py');

it.each(['sseclient-py', 'httpx-sse', 'requests-sse'])(
  '%s receives each event at once, and loses nothing if it is cut, before its first one too, or the service restarts',
  async (library) => {
    // Heartbeats would complete what arrived late: time stands still between two events.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { url, records, cut, untilStreams, readFeed, restart, restore } = await startEventScenario();
    const known = await readFeed();
    const path = '/v1/events/stream?category=measurement';
    const client = startProcess('python3', [program, library, url + path, eventType]);
    const untilAllCame = async () => {
      // The feed is looked at each second, and heartbeats are each 15 seconds.
      vi.advanceTimersByTime(1_000);
      const expected = ['position', ...(await readFeed()).slice(known.length)];
      const read = () => client.output().split('\n').slice(0, -1);
      await eventually(
        () => read().length >= expected.length,
        `${expected.length} messages: ${client.output()}`,
      );
      expect(read()).toEqual(expected);
    };
    await untilAllCame();
    cut();
    records.add(2);
    await untilStreams(1);
    await untilAllCame();
    records.add(1);
    await untilAllCame();
    cut();
    records.add(1);
    await untilStreams(1);
    await untilAllCame();
    await restart();
    records.add(2);
    await untilStreams(1);
    restore();
    await untilAllCame();
  },
);
