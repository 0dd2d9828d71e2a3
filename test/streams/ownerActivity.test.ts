import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChainActors, createChainActors } from '../../actors/chain/chainActors.ts';
import { retainedStatesMax } from '../../actors/chain/fold/spanFoldState.ts';
import type { LoggedActivity } from '../../actors/chain/state/ownerState.ts';
import type { FoldRecord } from '../../actors/foldRecord.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { type Address, toAddress } from '../../actors/schemas/hex.ts';
import { createChainViews } from '../../actors/views/chain/chainViews.ts';
import type { OwnerActivityView } from '../../actors/views/chain/chainViewTypes.ts';
import { deleteRowsAbove } from '../../storage/deleteRowsAbove.ts';
import { createStoredActivity } from '../../storage/storedActivity.ts';
import { OlderSnapshotNeeded } from '../../streams/pipeline/streamFold.ts';
import { testRelease } from '../support/chain/testRelease.ts';
import { claimed, configuredEconomy, minted, transferred } from '../support/chain/writtenEconomy.ts';
import {
  buildHash,
  buildSpan,
  buildSpanMessage,
  type WrittenEvent,
  writtenChainId,
  writtenContracts,
  writtenSettings,
} from '../support/chain/writtenSpans.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { manualClock } from '../support/manualClock.ts';
import { buildBatch } from '../support/readings/buildBatch.ts';
import { acceptsState, restoreState } from '../support/restoreState.ts';
import { type OpenTables, openTables } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';
import { createWrittenFold } from '../support/streams/writtenFold.ts';

const confirmedBy = 11;
/** Fewer than the service has, so that pages reach both rows and memory. */
const eventsRetained = 100;
const owners = ['a', 'b', 'c', 'd'].map((digit) => toAddress(`0x${digit.repeat(40)}`));
const neverAborted = new AbortController().signal;

/** A number below a bound, the same for the same seed. */
function createDraw(seed: number) {
  let state = seed >>> 0;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The expected entry of an event on an owner's page. */
interface PlainEvent {
  readonly owners: readonly Address[];
  readonly text: string;
}

interface PlainBlock {
  readonly branch: number;
  readonly events: readonly PlainEvent[];
  readonly tokens: ReadonlyMap<number, Address>;
}

/** A chain as plain lists: the blocks of the current branch, and all messages so far. */
function createPlainChain(seed: number) {
  const draw = createDraw(seed);
  const blocks: PlainBlock[] = [];
  const messages: StreamMessage[] = [];
  let fork = 0;
  let nextToken = 1;

  function drawEvent(tokens: Map<number, Address>): readonly [WrittenEvent, readonly Address[], string] {
    const held = [...tokens][draw(tokens.size)];
    const choice = draw(10);
    if (held === undefined || choice === 0) {
      const owner = owners[draw(owners.length)] as Address;
      const tokenId = nextToken++;
      tokens.set(tokenId, owner);
      return [minted(owner, tokenId), [owner], `mint ${tokenId}`];
    }
    const [tokenId, owner] = held;
    if (choice < 7) return [claimed(owner, [tokenId], BigInt(choice)), [owner], `claim ${tokenId}`];
    const to = owners[draw(owners.length)] as Address;
    tokens.set(tokenId, to);
    return [transferred(owner, to, tokenId), owner === to ? [to] : [owner, to], `transfer ${tokenId}`];
  }

  function append(count: number, density: number) {
    for (let added = 0; added < count; added++) {
      const number = blocks.length + 1;
      const before = blocks.at(-1);
      const tokens = new Map(before?.tokens);
      const written: WrittenEvent[] = number === 1 ? [...configuredEconomy] : [];
      const events: PlainEvent[] = [];
      while (number > 1 && draw(100) < density) {
        const [event, of, what] = drawEvent(tokens);
        events.push({ owners: of, text: `${what} in ${buildHash(number, fork)} at ${written.length}` });
        written.push(event);
      }
      const span = buildSpan({ number, events: written, fork, parentBranch: before?.branch ?? fork });
      messages.push(buildSpanMessage(span, messages.length + 1));
      blocks.push({ branch: fork, events, tokens });
    }
  }

  return {
    messages,
    append,
    /** Replaces the newest blocks with one block more, but never the first one. */
    reorganize: (depth: number, density: number) => {
      const replaced = Math.min(depth, blocks.length - 1);
      fork++;
      blocks.splice(blocks.length - replaced);
      append(replaced + 1, density);
      return replaced;
    },
    /** Events in safe blocks, newest first. */
    listActivity: (owner: Address) =>
      blocks
        .slice(0, Math.max(0, blocks.length - confirmedBy))
        .flatMap(({ events }) => events.filter((event) => event.owners.includes(owner)))
        .map(({ text }) => text)
        .reverse(),
    draw,
  };
}

/** The fold and its views as in the service, over tables; rows are stored when a call returns. */
function followPlainly({ database, tables }: OpenTables, messages: readonly StreamMessage[]) {
  const { actors, fold } = createWrittenFold(createChainActors({ ...writtenSettings, eventsRetained }));
  const clock = manualClock();
  const views = createChainViews({
    installationId: 'wheel-1',
    onChain: {
      actors,
      deployment: {
        release: testRelease,
        chain: { target: 'anvil', chainId: writtenChainId, deploymentBlock: 1n, economyDeploymentBlock: 1n },
        contracts: writtenContracts,
      },
    },
    isCaughtUp: () => true,
    staleAfterMs: Number.MAX_SAFE_INTEGER,
    behindAfterMs: Number.POSITIVE_INFINITY,
    olderActivity: createStoredActivity({ database, tables: () => tables, writer: null }),
    clock,
  });
  const captures: { readonly position: number; readonly records: readonly FoldRecord[] }[] = [];
  let position = 0;
  /** A restored state is saved completely, as by the service. */
  let isReplaced = false;

  async function takeThrough(end: number): Promise<void> {
    const batch = buildBatch(messages.slice(position, end), 'created');
    const { rows, rejections } = fold.receive(batch);
    expect(rejections).toEqual([]);
    await storeRows(database, tables, rows);
    position = end;
  }

  /** Folds new messages, and restores an older state if the fold needs one, like the stream's follower. */
  async function follow(): Promise<void> {
    while (position < messages.length) {
      try {
        // The first message of a fork shows that it is too deep.
        await takeThrough(Math.min(position + 97, messages.length));
      } catch (error) {
        if (!(error instanceof OlderSnapshotNeeded)) throw error;
        const usable = captures.findLast(({ records }) => acceptsState(fold, records));
        await restoreAt(usable ?? { position: 0, records: [] }, true);
      }
    }
    const { all, changes } = fold.capture();
    const before = isReplaced ? undefined : captures.at(-1);
    captures.push({ position, records: before && changes ? [...before.records, ...changes()] : [...all()] });
    isReplaced = false;
  }

  async function restoreAt(to: (typeof captures)[number], isRewinding: boolean): Promise<void> {
    if (isRewinding)
      await deleteRowsAbove(database, { tables, stream: 'MINER_CHAIN', position: to.position });
    restoreState(fold, to.records, to.position);
    isReplaced = true;
    position = to.position;
    captures.splice(captures.indexOf(to) + 1);
  }

  return {
    actors,
    views,
    fold,
    follow,
    /** Starts on one of the snapshots, and folds the later messages again. */
    restart: async (back: number) => {
      const to = captures.at(-1 - Math.min(back, captures.length - 1));
      if (to === undefined) return;
      await restoreAt(to, false);
      await follow();
    },
  };
}

/** Events of all owners that are no longer in memory. */
function countEvicted(actors: ChainActors): number {
  const known = [...(actors.newest()?.owners.values() ?? [])];
  return known.reduce((sum, { activityCount, activity }) => sum + activityCount - activity.size, 0);
}

/** Expects memory to hold each event once, in the order of blocks. */
function expectLogged(actors: ChainActors) {
  const { owners, activityProgress } = actors.newest() ?? {};
  const inMemory = [...(owners ?? [])].flatMap(([owner, { activityCount, activity }]) =>
    activity.toArray().map(({ source }, index) => {
      const eventNumber = activityCount - activity.size + index;
      return { blockNumber: source.blockNumber, owner, eventNumber };
    }),
  );
  const logged = activityProgress?.logged.toArray() ?? [];
  const blocks = logged.map(({ blockNumber }) => blockNumber);
  expect(blocks).toEqual(blocks.toSorted((a, b) => Number(a - b)));
  expect(new Set(logged.map((one) => stringify(one)))).toEqual(
    new Set(inMemory.map((one) => stringify(one))),
  );
  expect(logged.length).toBe(inMemory.length);
}

const stringify = (one: LoggedActivity) => `${one.owner}/${one.eventNumber} in ${one.blockNumber}`;

type Views = ReturnType<typeof followPlainly>['views'];
type Page = OwnerActivityView | { readonly fault: string };

async function readPage(views: Views, owner: Address, limit: number, cursor: string | null): Promise<Page> {
  const page = await views.ownerActivity({ owner, limit, cursor }, neverAborted);
  if ('status' in page && page.status === 'unavailable') throw new Error(page.reason);
  return page as Page;
}

const formatPage = ({ activity }: OwnerActivityView) =>
  activity.map(
    ({ kind, tokenIds, source }) => `${kind} ${tokenIds.join()} in ${source.blockHash} at ${source.logIndex}`,
  );

/** The rest of a list after a page. */
async function walk(views: Views, owner: Address, limit: number, first: OwnerActivityView) {
  const texts = formatPage(first);
  for (let { nextCursor } = first; nextCursor !== null; ) {
    const page = await readPage(views, owner, limit, nextCursor);
    if ('fault' in page) return { texts, fault: page.fault };
    expect(page.total).toBe(first.total);
    texts.push(...formatPage(page));
    nextCursor = page.nextCursor;
  }
  return { texts, fault: null };
}

async function firstPage(views: Views, owner: Address, limit: number): Promise<OwnerActivityView> {
  const page = await readPage(views, owner, limit, null);
  if ('fault' in page) throw new Error(page.fault);
  return page;
}

const step = fc.record({
  does: fc.constantFrom('extend', 'reorganize', 'restart'),
  size: fc.integer({ min: 1, max: 60 }),
});

const history = fc.record({
  seed: fc.nat(2 ** 31),
  steps: fc.array(step, { minLength: 3, maxLength: 5 }),
  /** Sequential: the second fold may need states that the first one's rewinding restores. */
  deepAt: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 2 }),
});

describe('the activity of owners', () => {
  it('pages across memory and rows like a plain list, through reorganizations and restorations', async () => {
    const opened = await openTables();
    await fc.assert(
      fc.asyncProperty(history, async ({ seed, steps, deepAt }) => {
        await opened.database.command(`TRUNCATE TABLE ${opened.tables.ownerActivity}`);
        const chain = createPlainChain(seed);
        const followed = followPlainly(opened, chain.messages);
        chain.append(400, 25);
        await followed.follow();
        chain.append(retainedStatesMax, 5);
        await followed.follow();
        expect(countEvicted(followed.actors)).toBeGreaterThan(0);
        for (const [at, { does, size }] of steps.entries()) {
          // Below every retained state.
          if (deepAt.includes(at)) chain.reorganize(retainedStatesMax + confirmedBy + size, 10);
          if (does === 'extend') chain.append(size * 3, 40);
          if (does === 'reorganize') chain.reorganize(size * 2, 20);
          if (does === 'restart') await followed.restart(size % 3);
          await followed.follow();
          expectLogged(followed.actors);
          const owner = owners[chain.draw(owners.length)] as Address;
          const limit = 1 + chain.draw(60);
          const first = await firstPage(followed.views, owner, limit);
          expect(await walk(followed.views, owner, limit, first)).toEqual({
            texts: chain.listActivity(owner),
            fault: null,
          });
        }
      }),
      { numRuns: 3 },
    );
  });

  it('keeps paging at the block of the first page, and stops when that block is replaced', async () => {
    const opened = await openTables();
    const chain = createPlainChain(5);
    const { views, follow } = followPlainly(opened, chain.messages);
    chain.append(500, 30);
    await follow();
    chain.append(retainedStatesMax, 5);
    await follow();
    const owner = owners[1] as Address;
    const before = chain.listActivity(owner);
    expect(before.length).toBeGreaterThan(60);
    const first = await firstPage(views, owner, 20);
    chain.append(200, 40);
    await follow();
    expect(chain.listActivity(owner).length).toBeGreaterThan(before.length);
    expect(await walk(views, owner, 20, first)).toEqual({ texts: before, fault: null });

    const second = await firstPage(views, owner, 20);
    const next = (await readPage(views, owner, 20, second.nextCursor)) as OwnerActivityView;
    chain.reorganize(40, 30);
    await follow();
    expect(await walk(views, owner, 20, second)).toEqual({ texts: formatPage(second), fault: 'invalidated' });
    expect(await walk(views, owner, 20, next)).toEqual({ texts: formatPage(next), fault: 'invalidated' });
  });

  it('never mixes two branches when another process has followed a reorganization first', async () => {
    const opened = await openTables();
    const chain = createPlainChain(21);
    const ingesting = followPlainly(opened, chain.messages);
    const serving = followPlainly(opened, chain.messages);
    chain.append(40, 0);
    await ingesting.follow();
    chain.append(400, 30);
    await ingesting.follow();
    chain.append(retainedStatesMax, 5);
    await ingesting.follow();
    await serving.follow();
    const listBefore = owners.map((owner) => [owner, chain.listActivity(owner)] as const);
    chain.reorganize(retainedStatesMax + 300, 0);
    chain.append(200, 60);
    chain.append(retainedStatesMax + confirmedBy, 0);
    await ingesting.follow();
    const [owner, before] = listBefore.find(([one]) => chain.listActivity(one).length > 100) ?? [];
    if (owner === undefined || before === undefined) throw new Error('nobody has a history');
    expect(chain.listActivity(owner).slice(-before.length)).not.toEqual(before);
    const first = await firstPage(serving.views, owner, 20);
    await expect(walk(serving.views, owner, 20, first)).rejects.toThrow('does not hold the older activity');
    await serving.follow();
    const after = await firstPage(serving.views, owner, 20);
    expect((await walk(serving.views, owner, 20, after)).texts).toEqual(chain.listActivity(owner));
  });

  it('shows no page with a missing row, but still the page in memory', async () => {
    const opened = await openTables();
    const chain = createPlainChain(11);
    const { views, follow } = followPlainly(opened, chain.messages);
    chain.append(500, 30);
    await follow();
    chain.append(retainedStatesMax, 0);
    await follow();
    const holder = owners.find((owner) => chain.listActivity(owner).length > 80);
    if (holder === undefined) throw new Error('nobody has a history');
    await opened.database.command(
      `ALTER TABLE ${opened.tables.ownerActivity} DELETE WHERE owner = {owner:String} AND event_number = 3 SETTINGS mutations_sync = 2`,
      { owner: holder },
    );
    const first = await firstPage(views, holder, 20);
    expect(formatPage(first)).toEqual(chain.listActivity(holder).slice(0, 20));
    await expect(walk(views, holder, 20, first)).rejects.toThrow('does not hold the older activity');

    const { get } = await startPublicServer({ chain: views });
    for (const path of [`/v1/owners/${holder}/activity?`, `/v2/public/miners/activity?owner=${holder}&`]) {
      expect((await get(`${path}limit=25`)).status).toBe(200);
      const older = await get(`${path}limit=100`);
      expect([older.status, await older.json()]).toEqual([503, { error: 'database_unavailable' }]);
    }
  });
});
