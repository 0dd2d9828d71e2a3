import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { eventSource } from '../../events/eventSchemas.ts';
import { zeroAddress } from '../../schemas/hex.ts';
import { amount, milliseconds } from '../../schemas/stateScalars.ts';
import { address, bytes32 } from '../../schemas/wireScalars.ts';
import { chainEvent } from '../spans/chainEventSchema.ts';
import { type ProposerChange, proposerChange } from '../spans/chainReads.ts';

/** Number of shown core events (CONTRACT.md, Core state). */
export const coreEventsShown = 25;

const configuration = z.strictObject({
  streamId: bytes32,
  genesisTimestamp: amount,
  roundDuration: amount,
  maxWorkPerRound: amount,
  maxRoundsPerBatch: amount,
  initialWorkPerThousandBlocks: amount,
  targetBlocksPerActiveRound: amount,
  difficultySmoothingRounds: amount,
  blockUnitsPerBlock: amount,
  guardian: address,
  reporter: address,
});
export type CoreConfiguration = Inferred<typeof configuration>;

export const implementation = z.strictObject({
  codeAddress: address,
  codeVersion: amount,
  storageLayoutDigest: bytes32,
  runtimeHash: bytes32,
});
export type Implementation = Inferred<typeof implementation>;

export const coreState = z.strictObject({
  configuration: configuration.nullable(),
  implementation: implementation.nullable(),
  cumulativeWork: amount,
  cumulativeBlockUnits: amount,
  workPerThousandBlocks: amount,
  settledThroughRound: amount,
  authorizationNonce: amount,
  paused: z.boolean(),
  /** The newest event of the core contract itself. */
  source: z.strictObject({ eventName: z.string(), source: eventSource }).nullable(),
  /** Events of the core, its proxy, the proxy admin and the timelock: newest first, at most {@link coreEventsShown}. */
  events: z.array(chainEvent),
});
export type CoreState = Inferred<typeof coreState>;

export const governance = z.strictObject({
  proxyAdminOwner: address.nullable(),
  proxyAdminSlot: address.nullable(),
  /** Accounts whose proposer role of the timelock is known. The latest change is last. */
  proposers: z.array(proposerChange),
  /** The newest account that still has the role; the zero address if all have lost it, null if no account is known. */
  operatorProposer: address.nullable(),
  /** The latest operation of the timelock that calls the proxy or its admin. */
  operation: z
    .strictObject({
      id: bytes32,
      kind: z.enum(['upgrade', 'call']),
      state: z.enum(['scheduled', 'executed', 'cancelled']),
      /** When it may be executed (epoch milliseconds). */
      readyAtMs: milliseconds,
    })
    .nullable(),
});
export type Governance = Inferred<typeof governance>;

export function withProposers(governance: Governance, proposers: readonly ProposerChange[]): Governance {
  const newest = proposers.findLast(({ isGranted }) => isGranted)?.account ?? null;
  return {
    ...governance,
    proposers,
    operatorProposer: newest ?? (proposers.length > 0 ? zeroAddress : null),
  };
}
