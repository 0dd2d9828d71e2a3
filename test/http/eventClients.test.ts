import { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { eventClients } from '../support/http/eventClients.ts';
import { eventType, startEventScenario } from '../support/http/eventScenario.ts';
import { eventually } from '../support/processes/lifetime.ts';

it('clients of others lose no event over cuts and restarts', async () => {
  // The polyfill reports each interruption.
  vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => void vi.restoreAllMocks());
  const { url, records, cut, untilStreams, readFeed, restart, restore } = await startEventScenario();
  const known = await readFeed();
  const path = '/v1/events/stream?category=measurement';
  const names = Object.keys(eventClients);
  const received = await Promise.all(Object.values(eventClients).map((open) => open(url + path, eventType)));
  const untilAllHave = async () => {
    const events = await readFeed();
    // A stream that resumes sends no position.
    const expected = ['position', ...events.slice(known.length)];
    await eventually(
      () => received.every(({ length }) => length >= expected.length),
      `${expected.length} messages`,
    );
    // The names, so that a difference says whose it is.
    expect(names.map((name, index) => [name, received[index]])).toEqual(
      names.map((name) => [name, expected]),
    );
  };
  await untilAllHave();
  cut();
  records.add(2);
  await untilAllHave();
  records.add(1);
  await untilAllHave();
  await untilStreams(names.length);
  cut();
  records.add(3);
  await untilAllHave();
  await restart();
  records.add(4);
  await untilStreams(names.length);
  restore();
  await untilAllHave();
  records.add(1);
  await untilAllHave();
});

/** Pieces of a body of chunks: the content of each complete one. */
function readChunks(body: string): string[] {
  const chunks: string[] = [];
  for (let at = 0; ; ) {
    const [line = '', bytes = ''] = /^([0-9a-f]+)\r\n/i.exec(body.slice(at)) ?? [];
    const from = at + line.length;
    at = from + Number.parseInt(bytes, 16) + 2;
    if (line === '' || body.length < at || body.slice(at - 2, at) !== '\r\n') return chunks;
    chunks.push(body.slice(from, at - 2));
  }
}

it('a message of the event stream is sent in whole chunks', async () => {
  // Heartbeats would complete them: time stands still but for a look at the feed.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, records, untilStreams } = await startEventScenario();
  const { port, hostname, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (piece) => {
    received += piece.toString('latin1');
  });
  socket.write(`GET /v1/events/stream?category=measurement HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const readMessages = () => {
    const [, body = ''] = received.split(/(?<=\r\n)\r\n(.*)/s);
    return readChunks(body).join('').split('\n\n').slice(0, -1);
  };
  await untilStreams(1);
  for (let count = 1; count <= 4; count++) {
    await eventually(() => readMessages().length === count, `whole message ${count}`);
    records.add(1);
    vi.advanceTimersByTime(1_000);
  }
  const [beginning = '', ...events] = readMessages();
  expect(beginning).toMatch(/^retry: \d+\n(?::\n)*id: \S+\nevent: position\ndata: {}$/);
  for (const event of events)
    expect(event).toMatch(/^(?::\n)*id: \S+\nevent: measurement\.speed_record\ndata: /);
});
