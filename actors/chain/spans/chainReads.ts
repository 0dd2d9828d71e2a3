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
 * Facts from before the first indexed block, on `miner.chain.<chainId>.reads` (MESSAGES.md, Chain reads): which accounts gained and lost
 * the proposer role of a timelock that is older than the deployment.
 */
export const chainReadsMessage = z.object({
  core: address,
  blockNumber: z.string().regex(/^(?:0|[1-9]\d{0,19})$/, 'expected a block number as a decimal string'),
  blockHash,
  /** Latest change of each account, in chronological order. */
  proposers: z.array(proposerChange),
});
export type ChainReadsMessage = z.infer<typeof chainReadsMessage>;
export type ProposerChange = Inferred<typeof proposerChange>;

const readsKind = { kind: 'reads', format: defineFormat(chainReadsMessage, readsBytesMax) };

export interface ChainReads extends Omit<ChainReadsMessage, 'blockNumber'> {
  readonly chainId: bigint;
  readonly blockNumber: bigint;
}

/** Decodes chain reads from a message of `MINER_CHAIN`; null for another kind of message. */
export function decodeChainReads(subject: string, data: Uint8Array): Decoded<ChainReads> | null {
  const decoded = decodeChainMessage(readsKind, subject, data);
  if (decoded === null || 'rejection' in decoded) return decoded;
  const { chainId, message } = decoded.value;
  return { value: { ...message, chainId, blockNumber: BigInt(message.blockNumber) } };
}

/**
 * Maximum number of accounts whose proposer role is known; a timelock has a few. The view shows the newest proposer, so the oldest account
 * is forgotten first. It would matter only if more than a thousand later accounts had all lost the role.
 */
export const proposersMax = 1_024;

/** Keeps only the latest change of each account, in order. */
export function latestChanges(changes: readonly ProposerChange[]): ProposerChange[] {
  return changes
    .filter(({ account }, at) => changes.findLastIndex((one) => one.account === account) === at)
    .slice(-proposersMax);
}
