import type { Observed } from '../charts/observed.ts';
import type { Bodies, PageChain, Shown } from '../page.ts';
import { nameNetwork } from './networks.ts';
import { count, formatInteger } from './numbers.ts';

/** Sentences for the contract's codes. An unknown code is shown unchanged. */
const sentences: Readonly<Record<string, string>> = {
  // Builder and settlement queue (CONTRACT.md, Builder and Settlement queue state).
  no_measurement: 'No reading has been accepted yet.',
  counter_fault: 'The device reports a faulty counter, so there is no projection.',
  counter_epoch_unapproved: 'The counter has started again, and the oracle has not approved it yet.',
  oracle_head_unavailable: 'The oracle has not closed a round yet.',
  round_ineligible: 'A round has more work than the core contract accepts.',
  // Why the queue is blocked.
  incident_open: 'An incident is open: the operator has stopped settlement.',
  oracle_blocked: 'The oracle is blocked.',
  settlement_paused: 'The guardian has paused the core contract.',
  // Routes of the chain (CONTRACT.md, Unavailable reasons).
  indexer_disabled: 'This service is not connected to a chain.',
  indexer_mismatch:
    'The chain data belongs to other contracts or other rounds than this service is configured for.',
  indexer_unavailable:
    'The chain is unavailable: the indexer is behind or stopped, or its data cannot be shown.',
  not_yet_safe: 'The contracts do not have 12 confirmations yet.',
  not_configured: 'No reward contracts are configured.',
  source_disabled: 'No reading has been accepted yet.',
  no_closure: 'The oracle has not closed a round yet.',
  // Errors (CONTRACT.md, Errors).
  not_found: 'There is no such page. Follow a link above, or use the search.',
  rate_limited: 'Your address has sent too many requests.',
  database_unavailable: 'The service is starting, or its database does not answer.',
  database_busy: 'The service is busy.',
  public_stats_rebuilding: 'Statistics are being rebuilt from the readings. The history is not empty.',
  request_timeout: 'The database took too long.',
  internal_error: 'An unexpected error occurred, which the service has logged.',
  invalid_query: 'This link does not belong to the list. Start from its first page.',
  invalid_cursor: 'This link does not belong to the list. Start from its first page.',
  cursor_invalidated: 'This page of the list has expired. Start from its first page.',
};

export function explain(code: string): string {
  return sentences[code] ?? `The service says: ${code.replaceAll('_', ' ')}.`;
}

/**
 * Explains why nothing can be projected (CONTRACT.md, Builder and Settlement queue state). A reason may have several causes, which the rest of the
 * status and the state of the chain tell apart.
 */
export function explainProjection(
  reason: string,
  { settlementQueue: queue, oracle }: Pick<Bodies['status'], 'settlementQueue' | 'oracle'>,
  chain: PageChain | null,
): string {
  if (reason === 'oracle_head_unavailable' && oracle.latestClosure !== null)
    return 'The reporter has not said yet whether settlement is enabled.';
  if (reason !== 'round_projection_gap') return explain(reason);
  const outcome = 'so there is no projection.';
  if (chain === null) return `This service is not connected to a chain, ${outcome}`;
  if (chain.reason !== null) return `${nameNetwork(chain.target)} cannot be read at the moment, ${outcome}`;
  // The queue counts closed rounds alone.
  return queue.status === 'unavailable' && queue.reason === reason
    ? `The closed rounds do not follow the last settled round, ${outcome}`
    : `A round since the last closed one was not fully observed, so its work is unknown and there is no projection.`;
}

export type Mining = Extract<Shown<'settlements'>['mining'], { status: 'available' }>;

/** Says why the next checkpoint would mint nothing, by the rules of issuance (CONTRACT.md, Next mint round); null if it would mint. */
export function explainNoMint({ nextRound, unmintedCapacityBaseUnits }: Mining): string | null {
  if (nextRound.amountBaseUnits !== '0') return null;
  if (nextRound.completedBlockCount === '0')
    return 'No work block was completed since the last mint, so a checkpoint would mint nothing.';
  return `A checkpoint would mint nothing for ${count(nextRound.completedBlockCount, 'work block')}: ${
    unmintedCapacityBaseUnits === '0'
      ? 'the maximum supply has been minted.'
      : 'no miner was active in the rounds that completed them.'
  }`;
}

/** States of the next round to mint (CONTRACT.md, Next mint round). */
export const mintStates: Readonly<Record<string, string>> = {
  accruing: 'It is not settled yet.',
  ready: 'It is settled.',
};

export const provenances: Readonly<Record<string, string>> = {
  hardware: 'measured by the device',
  simulated: 'simulated',
  replay: 'replayed from a recording',
  derived: 'derived',
};

export const coverages: Readonly<Record<Observed, string>> = {
  complete: 'complete',
  partial: 'partial: a part was not observed',
  missing: 'missing: not observed, so unknown',
  future: 'still to come',
  running: 'so far',
  before: 'before the first reading or round',
};

/** The same for tables, where a column has the figures. */
export const coverageNames: Readonly<Record<Observed, string>> = {
  ...coverages,
  partial: 'partial',
  missing: 'missing',
};

/** Describes work by what is known of its time: `12 work units so far`. */
export function describeObservedWork(workUnits: string | null, state: Observed): string {
  if (state === 'future' || state === 'before') return coverages[state];
  if (state === 'running')
    return workUnits === null
      ? 'unknown so far'
      : `${formatInteger(workUnits)} work units in its ended rounds`;
  return `${workUnits === null ? 'unknown' : `${formatInteger(workUnits)} work units`}, ${coverages[state]}`;
}
