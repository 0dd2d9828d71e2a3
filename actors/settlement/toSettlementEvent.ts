import type { SettlementEvent } from '../../machines/settlementEvents.ts';
import type { OracleMessage } from './oracleMessage.ts';
import { isRemembered, type RememberedIds } from './rememberedIds.ts';
import { type ReporterMessage, toExpectedSums } from './reporterMessage.ts';

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

export function toReporterEvent(message: ReporterMessage, ended: EndedIds): SettlementEvent {
  const atMs = Date.parse(message.at);
  switch (message.type) {
    case 'settings':
    case 'incident_closed':
      return message;
    case 'run_started':
      return { ...message, atMs, hasEnded: isRemembered(ended.runs, message.runId) };
    case 'run_finished':
      return { ...message, atMs };
    case 'incident_opened':
      return { ...message, hasEnded: isRemembered(ended.incidents, message.incidentId) };
    case 'submission_prepared': {
      const submissionId = message.submissionId.toLowerCase();
      return {
        type: message.type,
        submissionId,
        previousSettledThroughRound: BigInt(message.previousSettledThroughRound),
        settledThroughRound: BigInt(message.settledThroughRound),
        activeRoundCount: message.activeRoundCount,
        expected: toExpectedSums(message.expected),
        atMs,
        hasEnded: isRemembered(ended.submissions, submissionId),
      };
    }
    default:
      return { ...message, submissionId: message.submissionId.toLowerCase(), atMs };
  }
}
