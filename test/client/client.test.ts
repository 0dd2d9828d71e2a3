import { describe, expect, it } from 'vitest';
import { createClient, formatUnits } from '../../http/client/index.ts';
import { buildEconomyEvents, buildState, createStateViews } from '../support/chain/economyState.ts';
import { recordStep } from '../support/chain/feedEvents.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { whenFinished } from '../support/processes/lifetime.ts';
import { createSpeedRecords } from '../support/readings/speedRecords.ts';

async function start() {
  const { views } = createStateViews(buildState(buildEconomyEvents()));
  const records = createSpeedRecords();
  const server = await startPublicServer({ chain: views, progress: records.progress });
  const connectTo = (baseUrl: string) => createClient({ baseUrl, firstDelayMs: 1 });
  return { records, server, connectTo, client: connectTo(server.base) };
}

/** Ends with the test. */
function createSignal(): AbortSignal {
  const ending = new AbortController();
  whenFinished(() => ending.abort());
  return ending.signal;
}

describe('a request', () => {
  it('returns decimals as bigints, and what is unavailable as such', async () => {
    const { client } = await start();
    const history = await client.get('/v1/settlements', { range: 'now' });
    if (history.status === 'unavailable') throw new Error(history.reason);
    expect(history.summary.settlementCount).toBeGreaterThan(0n);
    expect(history.recentSettlements.map(({ cumulativeWork }) => typeof cumulativeWork)).toContain('bigint');
    const { builder, oracle } = await client.get('/v4/public/process', {});
    expect([builder.status, oracle.latestClosure]).toEqual(['unavailable', null]);
    expect(formatUnits(1_500_000_000_000_000_000n, 18)).toBe('1.5');
    expect([formatUnits(0n, 18), formatUnits(7n, 0), formatUnits(1n, 2)]).toEqual(['0', '7', '0.01']);
  });

  it('is refused at once without a parameter or a whole address', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', firstDelayMs: 30_000 });
    const asked = client.get('/v1/owners/{address}/miners', {} as { address: string });
    await expect(asked).rejects.toThrow('the parameter address is missing');
    for (const baseUrl of ['', 'miner.example', 'localhost:8080'])
      expect(() => createClient({ baseUrl })).toThrow(`baseUrl is '${baseUrl}'`);
  });
});

describe('events', () => {
  it('do not begin with an empty position of a broken file', async () => {
    const { connectTo, server } = await start();
    const iteration = connectTo(server.base).events({ after: '' });
    await expect(iteration.next()).rejects.toThrow(
      "after is '': expected the position of an event, or nothing",
    );
  });

  it('come each once and in order through thirty-two connections, joined to the feed', async () => {
    const { records, server, connectTo } = await start();
    const proxy = await startCuttingProxy(server.base);
    const client = connectTo(proxy.url);
    records.add(10);
    const speeds: bigint[] = [];
    let reconnections = 0;
    const onReconnect = () => {
      reconnections++;
    };
    const options = { category: 'measurement', newest: 6, onReconnect, signal: createSignal() } as const;
    const received = (async () => {
      for await (const { event } of client.events(options))
        if (event.type === 'measurement.speed_record') speeds.push(event.payload.recordMmPerSecond);
    })();
    received.catch(() => undefined); // The signal ends it.
    let expected = 10;
    await eventually(() => speeds.length === 5, 'the newest events of the feed, one of which is a milestone');
    for (let round = 1; round <= 4; round++) {
      // What is sent now does not arrive, neither over this connection nor over the next ones.
      proxy.cutAnswers(8);
      records.add((round % 3) + 1);
      expected += (round % 3) + 1;
      await eventually(() => speeds.length >= expected - 5, `all events of round ${round}`);
    }
    const all = Array.from({ length: expected - 5 }, (_, index) => BigInt((index + 6) * recordStep));
    expect(speeds).toEqual(all);
    expect([proxy.cuts, reconnections]).toEqual([32, 32]);
  });

  it('are not lost if the connection breaks before the first one', async () => {
    const { records, server, connectTo } = await start();
    const proxy = await startCuttingProxy(server.base);
    records.add();
    const events = connectTo(proxy.url).events({ signal: createSignal() });
    const first = events.next();
    await eventually(
      () => /\nevent: position\ndata: {}\n\n/.test(proxy.answered),
      'the position that the stream begins with',
    );
    proxy.cutAnswers(1);
    records.add(2);
    const { event, position } = (await first).value;
    expect(event.payload).toMatchObject({ recordMmPerSecond: BigInt(2 * recordStep) });
    await events.return(undefined as never);
    // Another client continues there.
    const later = connectTo(server.base).events({ after: position, signal: createSignal() });
    const { value } = await later.next();
    expect(value.event.payload).toMatchObject({ recordMmPerSecond: BigInt(3 * recordStep) });
    await expect(connectTo(server.base).events({ after: 'nothing' }).next()).rejects.toMatchObject({
      code: 'invalid_cursor',
    });
  });
});
