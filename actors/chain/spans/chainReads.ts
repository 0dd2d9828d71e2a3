import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { type Decoded, defineFormat } from '../../messages/decodeMessage.ts';
import { address, blockHash } from '../../schemas/wireScalars.ts';
import { decodeChainMessage } from './decodeChainMessage.ts';

export const readsBytesMax = 256 * 1024;

/** keccak256 of `PROPOSER_ROLE`, of OpenZeppelin's TimelockController. */
export const proposerRole = '0xb09aa5aeb3702cfd50b6b62bc4532604938f21248a27a1d5ca736082b6819cc1';

export const proposerChange = z.object({ account: address, isGranted: z.boolean() });

/**
 * What no log of the indexed blocks carries, on `miner.chain.<chainId>.reads` (MESSAGES.md, Chain reads), as it was at the block before the
 * deployment's first one: who was made, and unmade, a proposer of a timelock that is older than the deployment.
 */
export const chainReadsMessage = z.object({
  /** Core contract of the deployment that was read for. */
  core: address,
  blockNumber: z.string().regex(/^(?:0|[1-9]\d{0,19})$/, 'expected a block number as a decimal string'),
  blockHash,
  /** The latest change of each account, in the order in which they happened. */
  proposers: z.array(proposerChange),
});
export type ChainReadsMessage = z.infer<typeof chainReadsMessage>;
export type ProposerChange = Inferred<typeof proposerChange>;

const readsKind = { kind: 'reads', format: defineFormat(chainReadsMessage, readsBytesMax) };

export interface ChainReads extends Omit<ChainReadsMessage, 'blockNumber'> {
  readonly chainId: bigint;
  readonly blockNumber: bigint;
}

/** A message of `MINER_CHAIN` as reads. Null for another kind. */
export function decodeChainReads(subject: string, data: Uint8Array): Decoded<ChainReads> | null {
  const decoded = decodeChainMessage(readsKind, subject, data);
  if (decoded === null || 'rejection' in decoded) return decoded;
  const { chainId, message } = decoded.value;
  return { value: { ...message, chainId, blockNumber: BigInt(message.blockNumber) } };
}

/**
 * Accounts whose proposer role is known; a timelock has a few. The newest one that still has the role is shown, so the oldest is forgotten first: it
 * would count once more than a thousand others were made proposers, or unmade, after it, and none of them still is one.
 */
export const proposersMax = 1_024;

/** The latest change of each account alone, in the order of these. */
export function latestChanges(changes: readonly ProposerChange[]): ProposerChange[] {
  return changes
    .filter(({ account }, at) => changes.findLastIndex((one) => one.account === account) === at)
    .slice(-proposersMax);
}
