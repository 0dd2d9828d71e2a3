import { setup } from 'xstate';

/** Why a chain view is not available, in the order in which they are tested (CONTRACT.md, Unavailable reasons). */
export const chainUnavailableReasons = [
  'indexer_disabled',
  'indexer_mismatch',
  'projection_rebuilding',
  'projection_failed',
  'indexer_unavailable',
  'not_yet_safe',
  'unsupported_contract_version',
] as const;
export type ChainUnavailableReason = (typeof chainUnavailableReasons)[number];
export type ChainAvailability = 'available' | ChainUnavailableReason;

/** What decides whether the chain can be shown. */
export type ChainObservation = {
  /** A deployment with contracts is configured. */
  readonly isConfigured: boolean;
  /** The stream tells of another chain or core, and of this one nothing. */
  readonly isMismatched: boolean;
  /** Everything that the stream held at the start is folded in. */
  readonly isCaughtUp: boolean;
  /** Every safe block could be applied. */
  readonly isApplied: boolean;
  /** Something is indexed, and the newest span is not too old. */
  readonly isIndexed: boolean;
  /** The safe block is the deployment's or a later one, and what is shown is configured there. */
  readonly isSafe: boolean;
  /** The implementations behind the proxies are of a version that is understood. */
  readonly isSupported: boolean;
};

/** Whether chain views are available, observed whenever one is made. */
export const chainAvailabilityMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'observed'; chain: ChainObservation },
  },
  guards: {
    isDisabled: ({ event }) => !event.chain.isConfigured,
    isMismatched: ({ event }) => event.chain.isMismatched,
    isRebuilding: ({ event }) => !event.chain.isCaughtUp,
    isFailed: ({ event }) => !event.chain.isApplied,
    isUnindexed: ({ event }) => !event.chain.isIndexed,
    isUnsafe: ({ event }) => !event.chain.isSafe,
    isUnsupported: ({ event }) => !event.chain.isSupported,
  },
}).createMachine({
  id: 'chainAvailability',
  context: {},
  initial: 'indexer_disabled',
  on: {
    observed: [
      { guard: 'isDisabled', target: '.indexer_disabled' },
      { guard: 'isMismatched', target: '.indexer_mismatch' },
      { guard: 'isRebuilding', target: '.projection_rebuilding' },
      { guard: 'isFailed', target: '.projection_failed' },
      { guard: 'isUnindexed', target: '.indexer_unavailable' },
      { guard: 'isUnsafe', target: '.not_yet_safe' },
      { guard: 'isUnsupported', target: '.unsupported_contract_version' },
      { target: '.available' },
    ],
  },
  states: {
    available: {},
    indexer_disabled: {},
    indexer_mismatch: {},
    projection_rebuilding: {},
    projection_failed: {},
    indexer_unavailable: {},
    not_yet_safe: {},
    unsupported_contract_version: {},
  },
});
