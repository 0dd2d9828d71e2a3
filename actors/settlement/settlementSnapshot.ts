import { List } from 'immutable';
import { decodeIds, type EncodedIds, encodeIds } from './rememberedIds.ts';
import type { ClosedRound, EndedSubmission, SettlementPipelineState } from './settlementPipeline.ts';

/** What oracle and reporter have said, as a line of a snapshot has it. */
export type EncodedSettlement = Omit<
  SettlementPipelineState,
  'closedRounds' | 'endedSubmissions' | 'ended' | 'acceptedMessages'
> & {
  readonly closedRounds: readonly ClosedRound[];
  readonly endedSubmissions: readonly EndedSubmission[];
  readonly ended: { readonly [Kind in keyof SettlementPipelineState['ended']]: EncodedIds };
  readonly acceptedMessages: EncodedIds;
};

export function encodeSettlement(state: SettlementPipelineState): EncodedSettlement {
  const { submissions, runs, incidents } = state.ended;
  return {
    ...state,
    closedRounds: state.closedRounds.toArray(),
    endedSubmissions: state.endedSubmissions.toArray(),
    ended: {
      submissions: encodeIds(submissions),
      runs: encodeIds(runs),
      incidents: encodeIds(incidents),
    },
    acceptedMessages: encodeIds(state.acceptedMessages),
  };
}

export function decodeSettlement(encoded: EncodedSettlement): SettlementPipelineState {
  const { submissions, runs, incidents } = encoded.ended;
  return {
    ...encoded,
    closedRounds: List(encoded.closedRounds),
    endedSubmissions: List(encoded.endedSubmissions),
    ended: {
      submissions: decodeIds(submissions),
      runs: decodeIds(runs),
      incidents: decodeIds(incidents),
    },
    acceptedMessages: decodeIds(encoded.acceptedMessages),
  };
}
