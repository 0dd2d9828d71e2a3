import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { HttpError } from '../../http/routes/errors.ts';
import type { ExchangeGuard } from '../../http/server/answers/exchangeGuard.ts';
import {
  createPendingReads,
  createTurns,
  turnWaitMaxMs,
  waitingMax,
} from '../../http/server/answers/pendingReads.ts';
import type { Exchange, ResponseWriter } from '../../http/server/answers/responseWriter.ts';
import type { AddressWords } from '../../http/server/requests/ipAddress.ts';
import { manualClock } from '../support/manualClock.ts';

/** Requests of clients by the last word of their addresses, of IPv4 unless a site is given, and what they are answered with, in order. */
function createWorld() {
  const clock = manualClock();
  const answers: string[] = [];
  const aborts: (() => void)[] = [];
  const signals: AbortSignal[] = [];
  const reads = createPendingReads({
    writer: {
      writeError: ({ route }: Exchange, { code, retryAfterSeconds }: HttpError) =>
        answers.push(`${route} ${code} ${retryAfterSeconds}`),
    } as unknown as ResponseWriter,
    guard: { run: (_exchange: Exchange, answer: () => void) => answer() } as ExchangeGuard,
    registry: new Registry(),
    turns: createTurns(clock),
    timeoutMs: 10_000,
  });
  const ask = (client: number, found: readonly (string | Promise<string>)[], site?: AddressWords) => {
    const route = `${client}`;
    const exchange = {
      route,
      client: site ?? [0, 0, 0xffff, client],
      response: {
        cork: (write: () => void) => write(),
        onAborted: (abort: () => void) => aborts.push(abort),
      },
    } as unknown as Exchange;
    reads.run(
      exchange,
      found.map((body) => (signal) => {
        signals.push(signal);
        answers.push(`${route} reads`);
        return body instanceof Promise ? body.then((later) => ({ body: later })) : { body };
      }),
      (bodies) => answers.push(`${route}: ${bodies.map(({ body }) => body)}`),
    );
  };
  return { clock, aborts, signals, ask, take: () => answers.splice(0) };
}

it('each body that a page reads, and the page, take turns with the requests of others', async () => {
  const { ask, take } = createWorld();
  ask(1, ['a', Promise.resolve('b'), 'c']);
  ask(2, ['d']);
  ask(3, []);
  const turns: string[][] = [];
  for (let turn = 0; turn < 6; turn++) {
    await null;
    turns.push(take());
    await nextTurn();
  }
  expect(turns).toEqual([['1 reads'], ['1 reads'], ['1 reads'], ['2 reads', '2: d'], ['3: '], ['1: a,b,c']]);
});

it('a read ends with the connection of its request', () => {
  const { aborts, signals, ask } = createWorld();
  ask(1, [new Promise<string>(() => undefined)]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  aborts[0]?.();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it('while the next turn has been waited for too long, the client with the most waiting is refused', async () => {
  const { clock, ask, take } = createWorld();
  for (const client of [1, 1, 1, 2]) ask(client, ['a']);
  clock.advance(turnWaitMaxMs);
  ask(2, ['a']);
  expect(take()).toEqual(['1 reads', '1: a']);
  clock.advance(1);
  ask(3, ['a']);
  ask(2, ['a']);
  expect(take()).toEqual(['2 database_busy 2', '2 database_busy 2']);
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  expect(take().filter((answer) => answer.includes(':'))).toEqual(['1: a', '1: a', '2: a', '3: a']);
});

it('while 64 wait, the newest request of the client with the most is refused, and a site counts half as much', () => {
  const { ask, take } = createWorld();
  const never = [new Promise<string>(() => undefined)];
  const site = (network: number): AddressWords => [0x2001_0db8, 0x0007_0000 + network, 0, 1];
  const askOften = (count: number, client: number, of?: AddressWords) => {
    for (let request = 0; request < count; request++) ask(client, never, of);
  };
  askOften(19, 1);
  askOften(19, 21, site(1));
  askOften(20, 22, site(2));
  askOften(waitingMax - 58, 2);
  const refusedTo = (client: number) => {
    take();
    ask(client, never);
    return take().filter((answer) => answer.endsWith(' database_busy 2'));
  };
  // Of those that count the same, the newest request is refused.
  expect([3, 4, 5, 1].map(refusedTo)).toEqual([22, 22, 21, 1].map((client) => [`${client} database_busy 2`]));
});

it('a turn of the event loop has one task, with what it continues at once, and the others wait in order', async () => {
  const clock = manualClock();
  const turns = createTurns(clock);
  const done: string[] = [];
  const gone = new Set(['b', 'c']);
  const take = (name: string) =>
    turns.take({
      isOver: () => gone.has(name),
      run: async () => {
        if (name === 'a') take('asked for by a');
        await null;
        done.push(name);
      },
    });
  for (const name of ['a', 'b', 'c', 'd', 'e']) take(name);
  clock.advance(30);
  expect(turns.waitedMs()).toBe(30);
  await null;
  expect(done).toEqual(['a']);
  // Tasks that nobody waits for take no turn.
  const expected = ['a', 'asked for by a', 'd', 'e'];
  for (let count = 2; count <= 4; count++) {
    await nextTurn();
    expect(done).toEqual(expected.slice(0, count));
  }
  expect(turns.waitedMs()).toBe(0);
  await nextTurn();
  take('f');
  await null;
  expect(done.at(-1)).toBe('f');
});
