import type { Bodies, Shown } from '../page.ts';
import { settlementsPath } from '../resources.ts';
import { describeAmount, projectShare } from './quantities.ts';
import type { Mining } from './words.ts';

/** Work blocks that closed rounds would complete, and those that all measured rounds would; null if unknown. */
export function countBlocks(status: Pick<Bodies['status'], 'builder' | 'settlementQueue'> | null) {
  const [closed, measured] = [status?.settlementQueue, status?.builder].map((part) =>
    part?.status === 'available' ? BigInt(part.projected.completedBlockCount) : null,
  );
  return { closed: closed ?? null, measured: measured ?? null };
}

/**
 * Figures of an owner's rewards. Those that are not minted yet are its share of the mint of all work through a stage, less its share of the mint through
 * the stage before. So `settled` and `optimistic` add up to `expected`.
 *
 * @param mining null if the next mint is not known.
 */
export function describeRewards(
  { summary, configuration, mining: { totalWeight } }: Shown<'portfolio'>,
  mining: Mining | null,
  blocks: ReturnType<typeof countBlocks>,
) {
  const asset = { symbol: configuration.tokenSymbol, decimals: configuration.tokenDecimals };
  const project = (further: bigint | null) => {
    if (mining === null || further === null) return null;
    const minted = BigInt(mining.nextRound.amountBaseUnits) + further * BigInt(mining.rewardPerBlock);
    const capacity = BigInt(mining.unmintedCapacityBaseUnits);
    return projectShare(String(minted < capacity ? minted : capacity), summary.activeWeight, totalWeight);
  };
  const [settled, closed, measured] = [project(0n), project(blocks.closed), project(blocks.measured)];
  const describe = (through: string | null, before: string | null, rounds: string) => ({
    ...describeAmount(through && before && String(BigInt(through) - BigInt(before)), asset, 4),
    route: settlementsPath('now'),
    safeBlock: null,
    field: 'mining.nextRound.amountBaseUnits, mining.rewardPerBlock',
    meaning: `Not minted or earned yet: the mint of all ${rounds} rounds, times this owner’s current share of the weight. Rounded down.`,
  });
  return {
    paid: {
      ...describeAmount(summary.paidBaseUnits, asset, 4),
      field: 'summary.paidBaseUnits',
      meaning: 'Claims paid to this owner, including those for miners it has since given away.',
    },
    claimable: {
      ...describeAmount(summary.claimableBaseUnits, asset, 4),
      field: 'summary.claimableBaseUnits',
      meaning: 'Earned but not claimed yet. The holder of a miner claims everything it has earned.',
    },
    expected: describe(closed, '0', 'closed'),
    settled: describe(settled, '0', 'settled'),
    optimistic: describe(closed, settled, 'closed but not settled'),
    measured: describe(measured, closed, 'measured but not closed'),
  };
}
