import type { ChainState } from '../state/chainState.ts';
import { type FinalActivity, makeActivityFinal } from './activityRows.ts';
import { type FinalSettlements, makeSettlementsFinal } from './settlementRows.ts';

export interface FinalHistory extends FinalSettlements {
  readonly activity: readonly FinalActivity[];
}

export const nothingFinal: FinalHistory = { activity: [], settlements: [], checkpoints: [] };

/** Turns history of final blocks into rows, and evicts it from memory once it is not needed there. */
export function makeFinal(
  state: ChainState,
  finalBlock: bigint,
  afterBlock: bigint,
): { readonly state: ChainState; readonly final: FinalHistory } {
  const active = makeActivityFinal(state, finalBlock, afterBlock);
  const settled = makeSettlementsFinal(active.state, finalBlock);
  return { state: settled.state, final: { activity: active.final, ...settled.final } };
}
