import { describe, expect, it } from 'vitest';
import { type ChainActors, createChainActors } from '../../../actors/chain/chainActors.ts';
import { retainedStatesMax } from '../../../actors/chain/fold/spanFoldState.ts';
import type { FoldRecord } from '../../../actors/foldRecord.ts';
import { type Address, toAddress } from '../../../actors/schemas/hex.ts';
import { claimed, configuredEconomy, minted, transferred } from '../../support/chain/writtenEconomy.ts';
import {
  buildSpan,
  buildSpanMessage,
  type WrittenEvent,
  writtenSettings,
} from '../../support/chain/writtenSpans.ts';
import { restoreState } from '../../support/restoreState.ts';

const owners = ['a', 'b', 'c'].map((digit) => toAddress(`0x${digit.repeat(40)}`));
/** An owner of one token, whose only event is evicted. */
const quietOwner = toAddress(`0x${'d'.repeat(40)}`);
const everyOwner = [...owners, quietOwner];
const ownerAt = (index: number) => owners[index % owners.length] as Address;
const eventsRetained = 20;
const tokens = 8;
const eventfulBlocks = 60;

/** Events of a block: tokens go round, and some blocks have several events of one owner. */
function listEvents(number: number): readonly WrittenEvent[] {
  if (number === 1) return configuredEconomy;
  if (number === 2) {
    const mints = Array.from({ length: tokens }, (_, token) => minted(ownerAt(token), token + 1));
    return [minted(quietOwner, tokens + 1), ...mints];
  }
  // Before each block every token is at its first owner, so that blocks may follow each other in any order.
  const token = ((number * 5) % tokens) + 1;
  const [from, to] = [ownerAt(token - 1), ownerAt(token)];
  return [transferred(from, to, token), claimed(to, [token], 1n), transferred(to, from, token)];
}

/** A fold that evicts events and one that does not, of the same messages. */
function followBoth() {
  const evicting = createChainActors({ ...writtenSettings, eventsRetained });
  const complete = createChainActors({ ...writtenSettings, eventsRetained: Number.MAX_SAFE_INTEGER });
  const rows = new Map<string, unknown>();
  let number = 0;
  let branch = 0;
  let seq = 0;
  function append(events: readonly WrittenEvent[], parentBranch = branch) {
    const span = buildSpan({ number: ++number, events, fork: branch, parentBranch });
    const message = buildSpanMessage(span, ++seq);
    complete.receive(message);
    const outcome = evicting.receive(message);
    if (outcome === 'unread' || !('output' in outcome)) throw new Error('the span was not followed');
    for (const { owner, eventNumber, event } of outcome.output.final.activity)
      rows.set(`${owner}/${eventNumber}`, event);
  }
  return {
    evicting,
    complete,
    rows,
    append,
    appendEventful: (count: number) => {
      for (let added = 0; added < count; added++) append(listEvents(number + 1));
    },
    appendEmpty: (count: number) => {
      for (let added = 0; added < count; added++) append([]);
    },
    /** Replaces the newest blocks by one block with other events. */
    reorganize: (depth: number) => {
      number -= depth;
      append(listEvents(number + 3), branch++);
    },
  };
}

/** Rows and memory together must equal the memory of the complete fold. */
function expectComplete({ evicting, complete, rows }: ReturnType<typeof followBoth>) {
  for (const owner of everyOwner) {
    const known = evicting.newest()?.owners.get(owner);
    const expected = complete.newest()?.owners.get(owner);
    if (known === undefined || expected === undefined) throw new Error(`${owner} did nothing`);
    const evicted = known.activityCount - known.activity.size;
    const numbers = Array.from({ length: evicted }, (_, eventNumber) => rows.get(`${owner}/${eventNumber}`));
    expect([...numbers, ...known.activity]).toEqual(expected.activity.toArray());
  }
}

function listMemory(actors: ChainActors) {
  const { owners: known, activityProgress } = actors.newest() ?? {};
  const { logged, rowCount } = activityProgress ?? {};
  const ofOwners = everyOwner.map((owner) => {
    const { tokenIds, activityCount, activity } = known?.get(owner) ?? {};
    return { tokenIds, activityCount, activity: activity?.toArray() };
  });
  return { ofOwners, logged: logged?.toArray(), rowCount };
}

/** Checks that a snapshot and its increments restore the current state. */
function followCaptures(actors: ChainActors) {
  const records: FoldRecord[] = [...actors.capture().all()];
  return () => {
    const { changes } = actors.capture();
    if (changes === null) throw new Error('what changed is not known');
    records.push(...changes());
    const restored = createChainActors({ ...writtenSettings, eventsRetained });
    restoreState(restored, records);
    expect(listMemory(restored)).toEqual(listMemory(actors));
  };
}

describe('events of owners that memory evicts', () => {
  it('become rows; increments remove them, and add them again after a reorganization', () => {
    const followed = followBoth();
    const { evicting, append, appendEventful, appendEmpty, reorganize } = followed;
    append(listEvents(1));
    append(listEvents(2));
    appendEventful(eventfulBlocks);
    const expectRestored = followCaptures(evicting);
    expectRestored();
    appendEmpty(retainedStatesMax - eventfulBlocks / 2);
    expectRestored();
    const countInMemory = () => evicting.newest()?.activityProgress.logged.size ?? 0;
    const before = countInMemory();
    appendEventful(15);
    appendEmpty(12);
    expectRestored();
    expectComplete(followed);
    // Back to states with events that were evicted since; the newest numbers get other events.
    reorganize(25);
    appendEventful(8);
    appendEmpty(12);
    expectRestored();
    expectComplete(followed);
    appendEmpty(retainedStatesMax + 1);
    expectRestored();
    expectComplete(followed);
    expect(evicting.newest()?.owners.get(quietOwner)).toMatchObject({ activityCount: 1 });
    expect(before).toBeGreaterThan(eventsRetained);
    expect(countInMemory()).toBe(eventsRetained);
  });
});
