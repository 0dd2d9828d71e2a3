import { findFirstMatch, otherwise, type Row } from '../../firstMatch.ts';

export type ChainAvailability =
  | 'available'
  | 'indexer_disabled'
  | 'indexer_mismatch'
  | 'projection_rebuilding'
  | 'projection_failed'
  | 'indexer_unavailable'
  | 'not_yet_safe'
  | 'unsupported_contract_version';

interface ChainAvailabilityInput {
  /** A deployment with contracts is configured. */
  readonly isConfigured: boolean;
  /** The stream tells of another chain or core, and of this one nothing; or the mining contract is another one. */
  readonly isMismatched: boolean;
  /** Everything that the stream held at the start is folded in. */
  readonly isCaughtUp: boolean;
  /** Every safe block could be applied. */
  readonly isApplied: boolean;
  /** Something is indexed, and neither the newest span nor the safe block is too old. */
  readonly isIndexed: boolean;
  /** The safe block is the deployment's or a later one, and what is shown is configured there. */
  readonly isSafe: boolean;
  /** The implementations behind the proxies are of a version that is understood. */
  readonly isSupported: boolean;
}

/** The reasons in the order in which they are tested. */
const table: readonly Row<ChainAvailabilityInput, ChainAvailability>[] = [
  ['indexer_disabled', ({ isConfigured }) => !isConfigured],
  ['indexer_mismatch', ({ isMismatched }) => isMismatched],
  ['projection_rebuilding', ({ isCaughtUp }) => !isCaughtUp],
  ['projection_failed', ({ isApplied }) => !isApplied],
  ['indexer_unavailable', ({ isIndexed }) => !isIndexed],
  ['not_yet_safe', ({ isSafe }) => !isSafe],
  ['unsupported_contract_version', ({ isSupported }) => !isSupported],
  ['available', otherwise],
];

/** Whether chain views are available, or the first reason why not. */
export function findChainAvailability(input: ChainAvailabilityInput): ChainAvailability {
  return findFirstMatch(table, input);
}
