import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { defineFormat } from '../../messages/decodeMessage.ts';
import { address, blockHash } from '../../schemas/wireScalars.ts';

export const readsBytesMax = 256 * 1024;

/** keccak256 of `PROPOSER_ROLE`, of OpenZeppelin's TimelockController. */
export const proposerRole = '0xb09aa5aeb3702cfd50b6b62bc4532604938f21248a27a1d5ca736082b6819cc1';

export const proposerChange = z.object({ account: address, isGranted: z.boolean() });

const blockNumber = z.string().regex(/^(?:0|[1-9]\d{0,19})$/, 'expected a block number as a decimal string');

/**
 * Facts from before the first indexed block, on `miner.chain.<chainId>.reads` (MESSAGES.md, Chain reads): which accounts gained and lost
 * the proposer role of a timelock that is older than the deployment.
 */
export const chainReadsMessage = z.object({
  core: address,
  blockNumber,
  blockHash,
  fromBlock: blockNumber
    .nullable()
    .default(null)
    .describe(
      'first block that was searched, or 0 once the creation of the timelock was found; null if the search may have missed changes',
    ),
  /** Latest change of each account, in chronological order. */
  proposers: z.array(proposerChange),
});
export type ChainReadsMessage = z.infer<typeof chainReadsMessage>;
export type ProposerChange = Inferred<typeof proposerChange>;

export const chainReadsFormat = defineFormat(chainReadsMessage, readsBytesMax);

export interface ChainReads extends Omit<ChainReadsMessage, 'blockNumber'> {
  readonly chainId: bigint;
  readonly blockNumber: bigint;
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
