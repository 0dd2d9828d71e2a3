import { z } from 'zod';
import { blockUnitsPerBlock } from '../../../actors/chain/state/blockUnits.ts';
import type {
  AnchorView,
  CompletedBlocks,
  FrontierView,
  ProjectedView,
} from '../../../actors/views/processProjection.ts';
import { encodeView, toIsoStringOrNull } from '../encodeView.ts';
import {
  bytes32,
  decimal,
  defineObject,
  positiveUint64Decimal,
  timestamp,
  uint64Decimal,
} from '../scalars.ts';

export const completed = {
  firstCompletedBlock: uint64Decimal
    .nullable()
    .describe('First completed work block; null if none is completed'),
  lastCompletedBlock: uint64Decimal
    .nullable()
    .describe('Last completed work block; null if none is completed'),
  completedBlockCount: uint64Decimal.describe('Number of completed work blocks'),
};

const settledBy = {
  confirmedAt: timestamp
    .nullable()
    .describe('Time of the last settlement’s block; null before the first settlement'),
  transactionHash: bytes32
    .nullable()
    .describe('Transaction of the last settlement; null before the first settlement'),
};

/** The core's sums on public routes, where the next block's work is in work units. */
const publicSums = {
  cumulativeWork: decimal.describe('All work through this point, in work units'),
  blockHeight: uint64Decimal.describe('Work blocks completed through this point'),
  currentWork: uint64Decimal.meta({
    description: 'Work towards the next work block, in work units; below `workPerBlock`',
  }),
  workPerBlock: positiveUint64Decimal.describe('Work units for a work block, rounded up; above zero'),
};

/** The core's sums on plain routes, in block units and with the exact difficulty. */
const plainSums = {
  cumulativeWork: decimal.describe('All work through this point, in work units'),
  cumulativeBlockUnits: decimal.describe(
    'All block units through this point; a work block has 1,000,000,000',
  ),
  blockHeight: uint64Decimal.describe('Work blocks completed through this point'),
  blockProgress: uint64Decimal.describe('Block units towards the next work block, below 1,000,000,000'),
  workPerThousandBlocks: decimal.describe('Difficulty: work units for 1,000 work blocks'),
};

const lifecycle = { lifecycle: z.literal('optimistic').describe('A projection: not settled, not issued') };

const settledThroughRound = uint64Decimal.describe('Last settled round');

export const publicSumsForm = {
  anchor: { settledThroughRound, ...publicSums, ...settledBy },
  projected: defineObject('PublicProjected', { ...lifecycle, ...publicSums, ...completed }),
  encode: toPublicSums,
};

export const plainSumsForm = {
  anchor: { settledThroughRound, ...plainSums, ...settledBy },
  projected: defineObject('Projected', { ...lifecycle, ...plainSums, ...completed }),
  encode: toPlainSums,
};

export function toAnchorBody<Shown>(anchor: AnchorView, sums: (frontier: FrontierView) => Shown) {
  return {
    settledThroughRound: anchor.settledThroughRound.toString(),
    ...sums(anchor),
    confirmedAt: toIsoStringOrNull(anchor.confirmedAtMs),
    transactionHash: anchor.transactionHash,
  };
}

export function toProjectedBody<Shown>(projected: ProjectedView, sums: (frontier: FrontierView) => Shown) {
  return { lifecycle: 'optimistic' as const, ...sums(projected), ...toCompletedBody(projected) };
}

export function toCompletedBody({
  firstCompletedBlock,
  lastCompletedBlock,
  completedBlockCount,
}: CompletedBlocks) {
  return encodeView({ firstCompletedBlock, lastCompletedBlock, completedBlockCount });
}

/** `workPerBlock` is rounded up, and `currentWork` is the block progress scaled to it (CONTRACT.md, Frontiers). */
function toPublicSums({ cumulativeWork, blockHeight, blockProgress, workPerThousandBlocks }: FrontierView) {
  const rounded = (workPerThousandBlocks + 999n) / 1000n;
  const workPerBlock = rounded > 1n ? rounded : 1n;
  return encodeView({
    cumulativeWork,
    blockHeight,
    currentWork: (blockProgress * workPerBlock) / blockUnitsPerBlock,
    workPerBlock,
  });
}

function toPlainSums({
  cumulativeWork,
  cumulativeBlockUnits,
  blockHeight,
  blockProgress,
  workPerThousandBlocks,
}: FrontierView) {
  return encodeView({
    cumulativeWork,
    cumulativeBlockUnits,
    blockHeight,
    blockProgress,
    workPerThousandBlocks,
  });
}
