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
  /** Whether a deployment with contracts is configured. */
  readonly isConfigured: boolean;
  /** Whether the stream holds only spans of another chain or core, or the mining contract is not the configured one. */
  readonly isMismatched: boolean;
  /** Whether all messages that the stream held at the start are folded. */
  readonly isCaughtUp: boolean;
  /** Whether every safe block could be applied. */
  readonly isApplied: boolean;
  /** Whether there is a span, and neither the newest span nor the safe block is too old. */
  readonly isIndexed: boolean;
  /** Whether the safe block is at or after the deployment block, and the shown contracts are configured there. */
  readonly isSafe: boolean;
  /** Whether this program supports the versions of the implementations behind the proxies. */
  readonly isSupported: boolean;
}

/** `available`, or the first reason why chain views are not. */
export function findChainAvailability(input: ChainAvailabilityInput): ChainAvailability {
  if (!input.isConfigured) return 'indexer_disabled';
  if (input.isMismatched) return 'indexer_mismatch';
  if (!input.isCaughtUp) return 'projection_rebuilding';
  if (!input.isApplied) return 'projection_failed';
  if (!input.isIndexed) return 'indexer_unavailable';
  if (!input.isSafe) return 'not_yet_safe';
  return input.isSupported ? 'available' : 'unsupported_contract_version';
}
