import type { Bodies } from '../page.ts';
import { count } from './numbers.ts';

type History = Extract<Bodies['settlements'], { status: 'available' }>;
export type Mining = Extract<History['mining'], { status: 'available' }>;

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
