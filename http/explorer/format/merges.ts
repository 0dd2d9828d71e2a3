import { group } from 'd3-array';
import type { Shown } from '../page.ts';
import { count, formatInteger } from './numbers.ts';
import { type Sentence, say, toMiner, toStart } from './sentence.ts';
import { formatMinutes } from './times.ts';

type Position = Shown<'portfolio'>['positions'][number];
/** Positions that differ in their rewards alone, in one group. */
export function groupEqual(positions: readonly Position[]): readonly (readonly [Position, ...Position[]])[] {
  const groups = group(
    positions,
    ({ level, activeWeight, targetWeight, pendingRound, mergeState, nextMergeBlock }) =>
      [level, activeWeight, targetWeight, pendingRound, mergeState, nextMergeBlock].join(' '),
  );
  // No group is empty.
  return [...groups.values()] as [Position, ...Position[]][];
}

/** Another position that it could be merged with now: it takes two of one owner and level, both ready. */
export function findPartner(position: Position, positions: readonly Position[]): Position | undefined {
  return positions.find(
    ({ tokenId, level, mergeState }) =>
      tokenId !== position.tokenId && level === position.level && mergeState === 'ready',
  );
}

/**
 * Whether and when a position can be merged, and with which one.
 *
 * @param partner undefined if its owner has none, null if that is not known.
 */
export function describeMerge(
  { mergeState, level, blocksUntilMerge, pendingActivationSource, pendingRound }: Position,
  partner: Position | null | undefined,
  history: Shown<'settlements'> | null,
): Sentence {
  switch (mergeState) {
    case 'terminal':
      return ['highest level'];
    case 'pending':
      return say`change by ${pendingActivationSource ?? 'merge'} under way${pendingRound === null ? '' : say`, until round ${toStart(pendingRound)}`}`;
    case 'cooldown':
      return [`in ${count(blocksUntilMerge, 'work block')}${estimateTime(blocksUntilMerge, history)}`];
    case 'ready':
      return partner === undefined
        ? [`ready, needs a second ready miner of level ${formatInteger(level)}`]
        : say`ready, with ${partner === null ? `a second ready miner of level ${level}` : say`miner ${toMiner(partner.tokenId)}`}`;
  }
}

/** How long work blocks take at the pace of the newest settlements; empty if that is not known. */
function estimateTime(blocks: string, history: Shown<'settlements'> | null): string {
  const times = (history?.recentSettlements ?? []).map(({ blockTimestamp, lastCompletedBlock }) => ({
    atMs: Date.parse(blockTimestamp),
    block: Number(lastCompletedBlock),
  }));
  const [newest, oldest] = [times[0], times.at(-1)];
  if (newest === undefined || oldest === undefined || newest.block <= oldest.block) return '';
  const minutesPerBlock = (newest.atMs - oldest.atMs) / 60_000 / (newest.block - oldest.block);
  return `, about ${formatMinutes(Math.ceil(Number(blocks) * minutesPerBlock))}`;
}
