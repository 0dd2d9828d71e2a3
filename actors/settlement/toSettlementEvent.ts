import type { SettlementEvent } from '../../machines/settlementEvents.ts';
import { type Decoded, reject } from '../messages/decodeMessage.ts';
import { explainBoundsExceeded } from './coreBounds.ts';
import type { OracleMessage } from './oracleMessage.ts';
import { isRemembered, type RememberedIds } from './rememberedIds.ts';
import type { ReporterMessage } from './reporterMessage.ts';

/** IDs of ended processes. No message can start them again. */
export interface EndedIds {
  readonly submissions: RememberedIds;
  /** Finished, or overtaken by a newer one. */
  readonly runs: RememberedIds;
  readonly incidents: RememberedIds;
}

export function toOracleEvent(message: OracleMessage): SettlementEvent {
  switch (message.type) {
    case 'closure_accepted':
      return {
        type: message.type,
        firstRound: BigInt(message.firstRound),
        lastRound: BigInt(message.lastRound),
        acceptedAtMs: Date.parse(message.acceptedAt),
        rounds: message.rounds.map(({ roundId, workUnits }) => ({
          roundId: BigInt(roundId),
          workUnits: BigInt(workUnits),
        })),
      };
    case 'epoch_approved':
      return { type: message.type, counterEpoch: message.counterEpoch.toLowerCase() };
    case 'blocked':
    case 'unblocked':
      return message;
  }
}

/** Converts a reporter's message to an event of the settlement machine; `malformed` if its sums exceed their bounds. */
export function toReporterEvent(message: ReporterMessage, ended: EndedIds): Decoded<SettlementEvent> {
  const atMs = Date.parse(message.at);
  switch (message.type) {
    case 'settings':
    case 'incident_closed':
      return { value: message };
    case 'run_started':
      return { value: { ...message, atMs, hasEnded: isRemembered(ended.runs, message.runId) } };
    case 'run_finished':
      return { value: { ...message, atMs } };
    case 'incident_opened':
      return { value: { ...message, hasEnded: isRemembered(ended.incidents, message.incidentId) } };
    case 'submission_prepared':
      return toPreparation(message, atMs, ended);
    default:
      return { value: { ...message, submissionId: message.submissionId.toLowerCase(), atMs } };
  }
}

function toPreparation(
  message: Extract<ReporterMessage, { type: 'submission_prepared' }>,
  atMs: number,
  ended: EndedIds,
): Decoded<SettlementEvent> {
  const batch = {
    previousSettledThroughRound: BigInt(message.previousSettledThroughRound),
    settledThroughRound: BigInt(message.settledThroughRound),
    activeRoundCount: message.activeRoundCount,
    expected: {
      cumulativeWork: BigInt(message.expected.cumulativeWork),
      cumulativeBlockUnits: BigInt(message.expected.cumulativeBlockUnits),
      workPerThousandBlocks: BigInt(message.expected.workPerThousandBlocks),
      completedBlockCount: BigInt(message.expected.completedBlockCount),
    },
  };
  const excess = explainBoundsExceeded(batch.expected);
  if (excess !== null) return reject('malformed', excess);
  const submissionId = message.submissionId.toLowerCase();
  const hasEnded = isRemembered(ended.submissions, submissionId);
  return { value: { type: message.type, submissionId, ...batch, atMs, hasEnded } };
}
