import { formatMinutes } from '../format/times.ts';
import type { Mining } from '../format/words.ts';
import { corePath, settlementsPath, statusPath } from '../resources.ts';
import { expectNext } from '../roundStages.ts';
import { findAvailable } from './Available.tsx';
import { usePage } from './pageContext.ts';
import { Age } from './Time.tsx';

/** What was minted, and what a mint would be now; null if that is not known. */
export function useMining(): Mining | null {
  const settlements = findAvailable(usePage().read('settlements', settlementsPath('now')));
  return findAvailable(settlements?.mining ?? null);
}

/** When the next of several similar events, such as batches, is expected; nothing while something prevents it. */
function Expected({ what, times }: { what: string; times: readonly string[] }) {
  const page = usePage();
  const next = expectNext(times);
  const isKnown = page.read('status', statusPath)?.settlementQueue.status === 'available';
  // A wheel that rests or is silent does not keep closed work from being settled and minted.
  if (next === null || !isKnown || page.problems.some(({ part }) => part !== 'wheel')) return null;
  const at = new Date(next.nextMs).toISOString();
  return (
    <>
      {' '}
      {what} {next.nextMs > page.nowMs ? 'is' : 'was'} expected <Age of={at} /> (usually every{' '}
      {formatMinutes(Math.round(next.usualMs / 60_000))}, the last{' '}
      <Age of={new Date(next.lastMs).toISOString()} />
      ).
    </>
  );
}

export function NextBatch() {
  const events = findAvailable(usePage().read('core', corePath))?.events ?? [];
  const batches = events.filter(({ eventName }) => eventName === 'BatchSettled');
  const times = batches.map(({ blockTimestamp }) => new Date(Number(blockTimestamp) * 1000).toISOString());
  return <Expected what="The next batch" times={times} />;
}

export function NextMint({ mining: { recentCheckpoints, unmintedCapacityBaseUnits } }: { mining: Mining }) {
  if (unmintedCapacityBaseUnits === '0') return null;
  return (
    <Expected what="The next mint" times={recentCheckpoints.map(({ blockTimestamp }) => blockTimestamp)} />
  );
}
