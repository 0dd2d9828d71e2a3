import { describe, expect, it } from 'vitest';
import type { FoldedMessage } from '../../actors/folds/foldedMessage.ts';
import type { SnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { SnapshotDamaged } from '../../storage/snapshots/snapshotText.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import {
  type RestorationOptions,
  type RestoredPosition,
  restoreFold,
  type StoredOutput,
} from '../../streams/follower/restoreFold.ts';
import { createStreamVerifier } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { askUntilProven, NotProven } from '../../streams/jetstream/proofs/suspicions.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import type { StreamFold } from '../../streams/pipeline/streamFold.ts';
import { collectLines } from '../support/collectLines.ts';
import { manualClock } from '../support/manualClock.ts';
import { someSnapshot } from '../support/storage/someLineage.ts';
import { streamInfo } from '../support/streams/streamInfo.ts';

const clock = manualClock();
const identity = { foldVersion: 1, configuration: 'ours' };
const header = (position: number, change: Partial<StoredSnapshotHeader> = {}) =>
  someSnapshot(position, { takenAtMs: clock.nowMs() - 5_000, ...change });

interface World {
  readonly headers?: readonly StoredSnapshotHeader[];
  /** First and last sequence of the stream. */
  readonly held?: readonly [number, number];
  /** A single one by default. */
  readonly replicas?: number;
  readonly fold?: Partial<StreamFold>;
  readonly stored?: Partial<StoredOutput> | null;
  readonly chooseFrom?: NonNullable<RestorationOptions['chooseFrom']>;
  readonly fault?: 'diverged' | 'olderSnapshotNeeded' | null;
  /** Position of a snapshot that cannot be read. */
  readonly damaged?: number;
  /** The fold refuses the states of higher positions. */
  readonly acceptedMax?: number;
}

/** Restores a fold, and notes everything that is done for it, in order. */
async function restore(world: World) {
  const { headers = [], held = [1, 20], replicas = 1, fold = {}, stored = {}, fault = null, damaged } = world;
  const { acceptedMax = 20 } = world;
  const { lines, logger } = collectLines('error');
  const done: string[] = [];
  const note =
    (what: string) =>
    async (...given: unknown[]) => {
      done.push([what, ...given.filter((one) => typeof one !== 'function')].join(' '));
    };
  const jetStream = {
    info: async () =>
      streamInfo({
        created: 'now',
        replicas,
        firstSequence: held[0],
        lastSequence: held[1],
        ...(replicas > 1 && { cluster: { name: 'c', leader: 'a', peers: [] } }),
      }),
  } as unknown as StreamPort;
  const options = {
    stream: 'MINER_COUNTER',
    jetStream,
    verifier: createStreamVerifier({ jetStream, stream: 'MINER_COUNTER', clock }),
    snapshots: {
      list: async () => headers,
      read: async function* ({ position }: StoredSnapshotHeader) {
        if (position === damaged) throw new SnapshotDamaged('cut short');
        yield [{ kind: 'position', key: '', value: String(position) }];
      },
    } as unknown as SnapshotStore,
    fold: {
      identity,
      beginRestore: () => {
        let restored = 0;
        return {
          add: ({ value }) => {
            restored = Number(value);
          },
          accepts: () => restored <= acceptedMax,
          complete:
            () =>
            ({ position }: FoldedMessage) =>
              done.push(`replace ${position}`),
        };
      },
      ...fold,
    } as StreamFold,
    clock,
    logger,
    stored: stored && {
      beginRun: async ({ position, choice, fault }: RestoredPosition) => {
        await note('begin above')(position);
        return fault === 'diverged' || choice.disagrees;
      },
      ...stored,
    },
    checkStreams: note('check'),
    chooseFrom: world.chooseFrom ?? (async () => () => true),
  } as const;
  let attempts = 0;
  const attempt = async () => {
    done.length = 0;
    attempts++;
    return restoreFold(options, fault);
  };
  const outcome = await (replicas === 1 ? askUntilProven(attempt) : attempt()).catch(
    (error: unknown) => error as Error,
  );
  return { done, outcome, lines, attempts };
}

describe('a fold continues from', () => {
  const young = { takenAtMs: clock.nowMs() - 999 };
  const oldEnough = header(5, { takenAtMs: clock.nowMs() - 1_000 });
  const aged = { fold: { snapshotAgeMs: 1_000 } };
  const cutOff = { ...aged, held: [8, 20] } as const;
  const ofOther = header(9, { streamCreated: 'before' });
  const ofOtherFolds = [header(7, { foldVersion: 2 }), header(5, { configuration: 'other' })];
  it.each<[string, World, number, boolean]>([
    ['the beginning without a snapshot', {}, 0, false],
    ['the newest snapshot', { headers: [header(7, young), header(3)] }, 7, false],
    [
      'the newest that is old enough',
      { ...aged, headers: [header(7, young), oldEnough, header(3)] },
      5,
      false,
    ],
    ['the oldest if all are too young', { ...aged, headers: [header(7, young), header(5, young)] }, 5, false],
    ['one that the stream continues', { ...cutOff, headers: [header(9, young), header(7)] }, 7, false],
    ['no old one before a gap', { ...cutOff, headers: [header(9, young), header(6)] }, 9, false],
    ['one before a gap if there is no other', { held: [8, 20], headers: [header(6), header(5)] }, 6, false],
    ['one of this stream', { headers: [ofOther, header(4)] }, 4, false],
    ['the beginning if all are of another stream', { headers: [ofOther] }, 0, true],
    ['one below the end of a stream that has lost the rest', { headers: [header(21), header(20)] }, 20, true],
    ['an old one, though a young one is lost', { ...aged, headers: [header(21, young), header(4)] }, 4, true],
    ['one that the fold accepts', { acceptedMax: 4, headers: [header(7), header(4)] }, 4, false],
    ['one that can be read', { damaged: 7, headers: [header(7), header(4)] }, 4, false],
    ['one of this fold', { headers: [...ofOtherFolds, header(4)] }, 4, false],
  ])('%s', async (_what, world, position, hasDiverged) => {
    const { outcome } = await restore(world);
    expect(outcome).toMatchObject({ streamPosition: { position }, hasDiverged, lastSequence: 20 });
  });
});

it('nothing is removed while a replicated leader may lag', async () => {
  const headers = [header(22), header(21), header(4)];
  const { done, outcome, lines } = await restore({ replicas: 3, headers });
  expect([done, outcome, lines]).toEqual([['check'], expect.any(NotProven), []]);
  expect(outcome).toHaveProperty('message', expect.stringContaining('has message 22 '));
  // The same answers prove what is lost of both.
  expect(await restore({ headers })).toMatchObject({
    attempts: 2,
    outcome: { streamPosition: { position: 4 } },
  });
});

it('a snapshot that cannot be read is named in the log', async () => {
  const { lines } = await restore({ damaged: 7, headers: [header(7), header(4)] });
  const msg = 'snapshot is damaged or refused; an older one is used';
  expect(lines).toMatchObject([{ snapshot: 'at 7', position: 7, msg }]);
});

describe('a fold that continues', () => {
  const headers = [header(7)];

  it('begins a run before it replaces its state', async () => {
    expect((await restore({ headers })).done).toEqual(['check', 'check', 'begin above 7', 'replace 7']);
  });

  it('only checks the streams on a replica', async () => {
    expect((await restore({ headers, stored: null })).done).toEqual(['check', 'check', 'replace 7']);
  });

  it('keeps its state if no run can begin', async () => {
    const beginRun = () => Promise.reject(new Error('unavailable'));
    const { done, outcome } = await restore({ headers, stored: { beginRun } });
    expect([done.at(-1), outcome]).toEqual(['check', new Error('unavailable')]);
  });

  it('leaves out snapshots of other runs', async () => {
    const chooseFrom = async () => (one: StoredSnapshotHeader) => one.run === 'ours';
    const others = [header(9), header(8, { run: 'ours', takenAtMs: 0 }), header(7, { run: 'ours' })];
    const { done } = await restore({ headers: others, chooseFrom });
    expect(done.at(-1)).toBe('replace 8');
  });
});
