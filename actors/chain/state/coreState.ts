import type { Hex } from 'viem';
import type { Address } from '../../schemas/hex.ts';
import { zeroAddress } from '../../schemas/zero.ts';
import type { ChainEvent, EventSource } from '../spans/chainEvent.ts';
import type { ProposerChange } from '../spans/chainReads.ts';

/** Core events that are shown (CONTRACT.md, Core state). */
export const coreEventsShown = 25;

export interface CoreConfiguration {
  readonly streamId: Hex;
  readonly genesisTimestamp: bigint;
  readonly roundDuration: bigint;
  readonly maxWorkPerRound: bigint;
  readonly maxRoundsPerBatch: bigint;
  readonly initialWorkPerThousandBlocks: bigint;
  readonly targetBlocksPerActiveRound: bigint;
  readonly difficultySmoothingRounds: bigint;
  readonly blockUnitsPerBlock: bigint;
  readonly guardian: Address;
  readonly reporter: Address;
}

/** Which code runs behind a proxy. */
export interface Implementation {
  readonly codeAddress: Address;
  readonly codeVersion: bigint;
  readonly storageLayoutDigest: Hex;
  readonly runtimeHash: Hex;
}

export interface CoreState {
  readonly configuration: CoreConfiguration | null;
  readonly implementation: Implementation | null;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
  readonly workPerThousandBlocks: bigint;
  readonly settledThroughRound: bigint;
  readonly authorizationNonce: bigint;
  readonly paused: boolean;
  /** The newest event of the core contract itself. */
  readonly source: { readonly eventName: string; readonly source: EventSource } | null;
  /** Newest first, at most {@link coreEventsShown}, of the core, its proxy, the proxy admin and the timelock. */
  readonly events: readonly ChainEvent[];
}

export const operationStates = ['scheduled', 'executed', 'cancelled'] as const;
export type OperationState = (typeof operationStates)[number];

export interface Governance {
  readonly proxyAdminOwner: Address | null;
  /** What the proxy's admin slot holds. */
  readonly proxyAdminSlot: Address | null;
  /** Accounts whose proposer role of the timelock changed or is known from before the first block, the latest change last. */
  readonly proposers: readonly ProposerChange[];
  /** The newest one that still has the role; the zero address where each has lost it, null where none is known. */
  readonly operatorProposer: Address | null;
  /** The latest operation of the timelock that calls the proxy or its admin. */
  readonly operation: {
    readonly id: Hex;
    readonly kind: 'upgrade' | 'call';
    readonly state: OperationState;
    /** When it may be executed (epoch milliseconds). */
    readonly readyAtMs: number;
  } | null;
}

export function withProposers(governance: Governance, proposers: readonly ProposerChange[]): Governance {
  const newest = proposers.findLast(({ isGranted }) => isGranted)?.account ?? null;
  return {
    ...governance,
    proposers,
    operatorProposer: newest ?? (proposers.length > 0 ? zeroAddress : null),
  };
}
