import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createChainActors } from '../../../actors/chain/chainActors.ts';
import { retainedStatesMax } from '../../../actors/chain/fold/spanFoldState.ts';
import { type OwnerActivityRow, toOwnerEvent } from '../../../actors/chain/rows/activityRows.ts';
import type { OwnerEvent } from '../../../actors/chain/state/ownerState.ts';
import { findPastOwner } from '../../../actors/chain/state/pastOwners.ts';
import type { FoldRecord } from '../../../actors/folds/foldRecord.ts';
import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type { OlderActivity } from '../../../actors/pages/olderRows.ts';
import { type Address, toAddress } from '../../../actors/schemas/hex.ts';
import type { OwnerActivityView } from '../../../actors/views/chain/ownerViews.ts';
import { requireValue } from '../../../machines/requireValue.ts';
import { OlderSnapshotNeeded } from '../../../streams/pipeline/streamFold.ts';
import { describeActivity } from '../../reference/mining.ts';
import { followChain, readSafeChain } from '../../reference/safeChain.ts';
import { stateDeployment } from '../../support/chain/economyState.ts';
import { createTestChainViews } from '../../support/chain/testChainViews.ts';
import { configuredEconomy, minted, transferred } from '../../support/chain/writtenEconomy.ts';
import {
  buildSpan,
  buildSpanMessage,
  type WrittenEvent,
  writtenSettings,
} from '../../support/chain/writtenSpans.ts';
import { runs } from '../../support/propertyRuns.ts';
import { buildBatch } from '../../support/readings/buildBatch.ts';
import { acceptsState, restoreState } from '../../support/restoreState.ts';
import { noOlderActivity } from '../../support/storage/noOlderRows.ts';
import { createWrittenFold } from '../../support/streams/writtenFold.ts';

/** Two of them begin alike. */
const owners = ['a', 'aaaab', 'c', 'f'].map((beginning) =>
  toAddress(`0x${beginning.padEnd(40, beginning.slice(-1))}`),
);
const deployment = {
  chain: { ...stateDeployment.chain, deploymentBlock: 1n },
  contracts: stateDeployment.contracts,
};
const { signal } = new AbortController();
/** Blocks after which an event is final. */
const untilFinal = retainedStatesMax + 12;

/** A chain whose miners change hands, its fold, and the rows that the fold makes. */
function createWorld() {
  const actors = createChainActors(writtenSettings);
  const { fold } = createWrittenFold(actors);
  let rows: OwnerActivityRow[] = [];
  const saved: { readonly through: number; readonly records: readonly FoldRecord[] }[] = [];
  const messages: StreamMessage[] = [];
  let branches: number[] = [];
  let forks = 0;
  /** Owners by token, after each block. */
  let holders: ReadonlyMap<number, Address>[] = [];

  function follow(from: number) {
    for (let index = from; index < messages.length; index++)
      try {
        const { rows: made } = fold.receive(buildBatch(messages.slice(index, index + 1), 'created'));
        rows.push(...made.ownerActivity);
      } catch (error) {
        if (!(error instanceof OlderSnapshotNeeded)) throw error;
        const older = saved.findLast(({ records }) => acceptsState(fold, records));
        restoreState(fold, older?.records ?? []);
        index = (older?.through ?? 0) - 1;
        rows = rows.filter(({ storedBy }) => storedBy <= index + 1);
      }
  }

  function append(events: readonly WrittenEvent[], after: ReadonlyMap<number, Address>) {
    const number = branches.length + 1;
    const span = buildSpan({ number, fork: forks, parentBranch: branches.at(-1) ?? forks, events });
    messages.push(buildSpanMessage(span, messages.length + 1));
    branches.push(forks);
    holders.push(after);
    follow(messages.length - 1);
  }

  const olderActivity: OlderActivity = {
    ...noOlderActivity,
    read: async ({ owner, from, end, throughPosition }) => {
      const found = new Map<number, OwnerActivityRow>();
      for (const row of rows)
        if (row.owner === owner && row.position <= throughPosition) found.set(row.eventNumber, row);
      return Array.from({ length: end - from }, (_, index) =>
        toOwnerEvent(requireValue(found.get(from + index), `row ${from + index} of ${owner}`)),
      );
    },
  };
  const views = createTestChainViews({
    onChain: { deployment: stateDeployment, actors },
    staleAfterMs: Number.POSITIVE_INFINITY,
    olderActivity,
  });
  append(configuredEconomy, new Map());
  return {
    actors,
    fold,
    messages,
    /** A block that mints tokens, or moves them to other owners. */
    move: (moves: readonly (readonly [tokenId: number, to: Address])[]) => {
      const after = new Map(holders.at(-1));
      const events = moves.map(([tokenId, to]) => {
        const from = after.get(tokenId);
        after.set(tokenId, to);
        return from === undefined ? minted(to, tokenId) : transferred(from, to, tokenId);
      });
      append(events, after);
    },
    wait: (blocks: number) => {
      for (let block = 0; block < blocks; block++) append([], holders.at(-1) ?? new Map());
    },
    /** Replaces the newest blocks by as many and one more, all empty. */
    reorganize: (depth: number) => {
      const kept = Math.max(1, branches.length - depth);
      const replaced = branches.length - kept;
      branches = branches.slice(0, kept);
      holders = holders.slice(0, kept);
      forks++;
      for (let block = 0; block <= replaced; block++) append([], holders.at(-1) ?? new Map());
    },
    restart: () => {
      const records = [...fold.capture()];
      saved.push({ through: messages.length, records });
      restoreState(fold, records);
    },
    /** All pages of an owner's list. */
    list: async (owner: Address, limit: number) => {
      const found: OwnerEvent[] = [];
      let cursor: string | null = null;
      do {
        const page = (await views.ownerActivity({ owner, limit, cursor }, signal)) as OwnerActivityView;
        found.push(...page.activity);
        cursor = page.nextCursor;
      } while (cursor !== null);
      return found.map(({ kind, tokenIds, source: { blockHash, logIndex } }) => [
        kind,
        tokenIds.map(String),
        blockHash,
        logIndex,
      ]);
    },
  };
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      moves: fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom(...owners)), {
        minLength: 1,
        maxLength: 40,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      blocks: fc.constantFrom(1, 20, 300, untilFinal),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('reorganize' as const),
      depth: fc.constantFrom(1, 13, 40, 350, untilFinal),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

it('the whole list of each owner is the reference’s, whoever has given everything away', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 10, size: 'max' }),
      fc.integer({ min: 1, max: 30 }),
      async (steps, limit) => {
        const world = createWorld();
        for (const one of steps) {
          if (one.do === 'move') world.move(one.moves);
          else if (one.do === 'wait') world.wait(one.blocks);
          else if (one.do === 'reorganize') world.reorganize(one.depth);
          else world.restart();
        }
        world.wait(40);
        const stored = world.messages.map((message) => ({ ...message, storedAtMs: message.seq * 1_000 }));
        const safe = requireValue(readSafeChain(followChain(stored, deployment), deployment), 'a safe chain');
        const state = requireValue(world.actors.newest(), 'a safe state');
        for (const owner of owners) {
          const expected = safe.events.flatMap((event) =>
            describeActivity(event, owner).map(({ kind, tokenIds }) => {
              const { blockHash, logIndex } = event.place;
              return [kind, tokenIds, blockHash, logIndex];
            }),
          );
          expect(await world.list(owner, limit)).toEqual(expected.reverse());
          // Memory has only the totals of those without miners, once their events are rows.
          const isKept =
            [...state.minerPositions.values()].some((one) => one.owner === owner) ||
            state.activityProgress.pending.some((one) => one.owner === owner);
          expect(state.owners.has(owner)).toBe(isKept);
          const { activityCount } = findPastOwner(state.pastOwners, owner);
          expect(activityCount).toBe(isKept ? 0 : expected.length);
        }
      },
    ),
    { numRuns: runs(12) },
  );
});
