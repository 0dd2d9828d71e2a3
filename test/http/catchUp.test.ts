import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FeedNews } from '../../actors/views/feed/feedNews.ts';
import { catchUpReadsMax, createCatchUp } from '../../http/server/events/catchUp.ts';

/** Clients that have each missed this number of batches. The first batches are in memory, or all but the last in ClickHouse. */
function createWorld(clientCount: number, batchesEach: number, { isStored = false } = {}) {
  const sent: { client: number; number: number; turn: number }[] = [];
  const readings: { client: number; end: (isFailing?: boolean) => void }[] = [];
  const state = { turn: 0, isOverloaded: false, overloadChecks: 0, isAvailable: true, failures: 0 };
  const counts = new Map(Array.from({ length: clientCount }, (_, client) => [client, 0]));
  const catchUp = createCatchUp<number>({
    findMissed: (client) => {
      if (!state.isAvailable) return null;
      const number = counts.get(client) ?? 0;
      const news = { number } as unknown as FeedNews;
      if (!isStored || number === batchesEach - 1) return news;
      return () =>
        new Promise((resolve, reject) => {
          const end = (isFailing = false) => (isFailing ? reject(new Error('unavailable')) : resolve(news));
          readings.push({ client, end });
        });
    },
    deliver: (client, missed) => {
      const { number } = missed as unknown as { number: number };
      sent.push({ client, number, turn: state.turn });
      counts.set(client, number + 1);
      if (number + 1 < batchesEach) catchUp.add(client);
    },
    isOverloaded: () => {
      state.overloadChecks++;
      return state.isOverloaded;
    },
    onReadFailed: () => state.failures++,
  });
  const addAll = () => {
    for (const client of counts.keys()) catchUp.add(client);
  };
  const passTurns = async (count: number) => {
    for (let index = 0; index < count; index++) {
      state.turn++;
      await nextTurn();
    }
  };
  return { catchUp, sent, readings, state, addAll, passTurns };
}

const listNumbers = (sent: ReturnType<typeof createWorld>['sent'], client: number) =>
  sent.filter((one) => one.client === client).map(({ number }) => number);

describe('clients that have missed events', () => {
  it('take turns, one batch in a turn of the event loop', async () => {
    const { sent, addAll, passTurns } = createWorld(200, 5);
    addAll();
    // As all of them do, again and again, while they wait.
    addAll();
    await passTurns(200 * 5 + 1);
    expect(sent).toHaveLength(200 * 5);
    expect(new Set(sent.map(({ turn }) => turn)).size).toBe(sent.length);
    expect(sent.map(({ client }) => client)).toEqual(sent.map((_, index) => index % 200));
    for (const client of [0, 99, 199]) expect(listNumbers(sent, client)).toEqual([0, 1, 2, 3, 4]);
  });

  it('wait while the event loop is late, and continue where they were', async () => {
    const { sent, state, addAll, passTurns } = createWorld(3, 3);
    addAll();
    await passTurns(5);
    const before = sent.length;
    expect(before).toBeGreaterThan(0);
    state.isOverloaded = true;
    const { overloadChecks } = state;
    await passTurns(10);
    expect(sent.length).toBe(before);
    // The turn that finds the loop late is the last: more of them would make it later.
    expect(state.overloadChecks).toBe(overloadChecks + 1);
    state.isOverloaded = false;
    // No turn is taken before they are added again: that would mean that the late event loop was kept busy.
    await passTurns(10);
    expect(sent.length).toBe(before);
    addAll();
    await passTurns(10);
    for (const client of [0, 1, 2]) expect(listNumbers(sent, client)).toEqual([0, 1, 2]);
  });

  it('are asked for again where nobody can be told at the moment', async () => {
    const { sent, state, addAll, passTurns } = createWorld(3, 1);
    state.isAvailable = false;
    addAll();
    await passTurns(5);
    state.isAvailable = true;
    await passTurns(5);
    expect(sent).toEqual([]);
    addAll();
    await passTurns(5);
    expect(sent.map(({ client }) => client)).toEqual([0, 1, 2]);
  });

  it('have bounded reads at a time, without holding up others', async () => {
    const stored = createWorld(catchUpReadsMax + 3, 2, { isStored: true });
    stored.addAll();
    await stored.passTurns(20);
    expect(stored.readings.map(({ client }) => client)).toEqual(
      Array.from({ length: catchUpReadsMax }, (_, index) => index),
    );
    // Asked for again while they are read for, and while they wait to be: that is no further read.
    stored.addAll();
    await stored.passTurns(20);
    expect(stored.readings).toHaveLength(catchUpReadsMax);
    expect(stored.sent).toEqual([]);
    for (const reading of stored.readings) reading.end();
    await stored.passTurns(40);
    expect(stored.readings).toHaveLength(catchUpReadsMax + 3);
    for (const reading of stored.readings) reading.end();
    await stored.passTurns(40);
    expect(new Set(stored.sent.map(({ turn }) => turn)).size).toBe(stored.sent.length);
    for (let client = 0; client < catchUpReadsMax + 3; client++)
      expect(listNumbers(stored.sent, client)).toEqual([0, 1]);
  });

  it('read again after a read that fails, once they are asked for', async () => {
    const { sent, readings, state, addAll, passTurns } = createWorld(1, 2, { isStored: true });
    addAll();
    await passTurns(2);
    readings[0]?.end(true);
    await passTurns(2);
    expect([state.failures, sent]).toEqual([1, []]);
    addAll();
    await passTurns(2);
    readings[1]?.end();
    await passTurns(5);
    expect(listNumbers(sent, 0)).toEqual([0, 1]);
  });

  it('are sent nothing once gone, and leave their place', async () => {
    const { catchUp, sent, readings, state, addAll, passTurns } = createWorld(catchUpReadsMax + 3, 2, {
      isStored: true,
    });
    addAll();
    await passTurns(20);
    catchUp.remove(0);
    catchUp.remove(1);
    // It still waits for the place of another.
    catchUp.remove(catchUpReadsMax);
    for (const [left, isFailing] of [false, true].entries()) {
      readings[left]?.end(isFailing);
      await passTurns(10);
      expect(readings.at(-1)?.client).toBe(catchUpReadsMax + 1 + left);
    }
    expect([sent, state.failures, readings.length]).toEqual([[], 0, catchUpReadsMax + 2]);
  });
});
