import { List } from 'immutable';
import { createActor, getInitialSnapshot } from 'xstate';
import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import type { ClosedRound, SettlementEmission, SettlementEvent } from '../../machines/settlementEvents.ts';
import { type SettlementSnapshot, settlementMachine } from '../../machines/settlementMachine.ts';
import { submissionOutcomes } from '../../machines/submission.ts';
import { type Rejection, reject } from '../messages/decodeMessage.ts';
import { milliseconds } from '../schemas/stateScalars.ts';
import type { SettlementStreamMessage } from './decodeSettlement.ts';
import { explainRefusal } from './explainRefusal.ts';
import {
  identifyMessage,
  isRemembered,
  noRememberedIds,
  type RememberedIds,
  rememberId,
} from './rememberedIds.ts';
import { type EndedIds, toOracleEvent, toReporterEvent } from './toSettlementEvent.ts';

/** Retained closed rounds. Only rounds above the settled frontier are needed; a year has 52,560. */
export const closedRoundsMax = 60_000;
/** Ended submissions retained for the statistics. */
export const endedSubmissionsMax = 10_000;

export const endedSubmission = z.strictObject({
  createdAtMs: milliseconds,
  submittedAtMs: milliseconds.nullable(),
  terminalAtMs: milliseconds,
  outcome: z.enum(submissionOutcomes),
});
export type EndedSubmission = Inferred<typeof endedSubmission>;

/** Settlement of one installation: the machine's state, and the lists that grow with time. Immutable. */
export interface Settlement {
  readonly snapshot: SettlementSnapshot;
  /** Ascending; rounds that the closures skipped are missing. */
  readonly closedRounds: List<ClosedRound>;
  /** Creation time of the first submission that the statistics still count; null before any. */
  readonly submissionsSinceMs: number | null;
  /** Oldest first. */
  readonly endedSubmissions: List<EndedSubmission>;
  /** Number of ended submissions that are no longer retained. */
  readonly evictedSubmissions: number;
  readonly ended: EndedIds;
  /** Accepted messages. Each counts once, even if it is stored again. */
  readonly acceptedMessages: RememberedIds;
}

export const initialSettlement: Settlement = {
  snapshot: getInitialSnapshot(settlementMachine),
  closedRounds: List(),
  submissionsSinceMs: null,
  endedSubmissions: List(),
  evictedSubmissions: 0,
  ended: { submissions: noRememberedIds, runs: noRememberedIds, incidents: noRememberedIds },
  acceptedMessages: noRememberedIds,
};

type SettlementMessage = Extract<SettlementStreamMessage, { kind: 'oracle' | 'reporter' }>;

export type SettlementActor = ReturnType<typeof createSettlementActor>;

export function createSettlementActor(restored: Settlement) {
  const actor = createActor(settlementMachine, { snapshot: restored.snapshot });
  let emitted: SettlementEmission[] = [];
  actor.on('*', (emission) => emitted.push(emission));
  actor.start();
  let settlement = restored;

  /** Null if the message is folded. `storedAtMs` is when the stream stored it (epoch milliseconds). */
  function receive(message: SettlementMessage, storedAtMs: number): Rejection | null {
    const id = identifyMessage({ kind: message.kind, message: message.message });
    const event = toEvent(message, id, settlement);
    if (!settlement.snapshot.can(event)) {
      return reject('not_allowed', explainRefusal(settlement.snapshot, event)).rejection;
    }
    emitted = [];
    actor.send(event);
    const snapshot = actor.getSnapshot();
    // An actor does not rethrow errors of its machine.
    if (snapshot.status === 'error') throw snapshot.error;
    const added = emitted.reduce((lists, emission) => addEmission(lists, emission, storedAtMs), settlement);
    const acceptedMessages = rememberId(added.acceptedMessages, id, storedAtMs);
    settlement = { ...added, snapshot, acceptedMessages };
    return null;
  }

  /** The settlement stays the same object until a message is folded. */
  return { receive, settlement: () => settlement };
}

/**
 * A message that was accepted before becomes `repeated`, which no state accepts. The stream stores a message again if it is published
 * after the dedupe window, and an overtaken setting or block must not come back.
 */
function toEvent(
  received: SettlementMessage,
  id: string,
  { acceptedMessages, ended }: Settlement,
): SettlementEvent {
  if (isRemembered(acceptedMessages, id)) return { type: 'repeated' };
  return received.kind === 'oracle'
    ? toOracleEvent(received.message)
    : toReporterEvent(received.message, ended);
}

/** Adds an emission of the machine to the lists that grow with time. */
function addEmission(settlement: Settlement, emission: SettlementEmission, storedAtMs: number): Settlement {
  const { closedRounds, ended, submissionsSinceMs } = settlement;
  switch (emission.type) {
    case 'roundsClosed':
      return { ...settlement, closedRounds: closedRounds.concat(emission.rounds).slice(-closedRoundsMax) };
    case 'runEnded':
      return { ...settlement, ended: { ...ended, runs: rememberId(ended.runs, emission.runId, storedAtMs) } };
    case 'incidentEnded': {
      const incidents = rememberId(ended.incidents, emission.incidentId, storedAtMs);
      return { ...settlement, ended: { ...ended, incidents } };
    }
    case 'submissionPrepared':
      return { ...settlement, submissionsSinceMs: submissionsSinceMs ?? emission.createdAtMs };
    case 'submissionEnded': {
      const { type: _type, submissionId, ...submission } = emission;
      const submissions = rememberId(ended.submissions, submissionId, storedAtMs);
      return { ...addEndedSubmission(settlement, submission), ended: { ...ended, submissions } };
    }
  }
}

/** Adds an ended submission. The statistics begin with the oldest retained one. */
function addEndedSubmission(settlement: Settlement, submission: EndedSubmission): Settlement {
  const all = settlement.endedSubmissions.push(submission);
  if (all.size <= endedSubmissionsMax) return { ...settlement, endedSubmissions: all };
  const endedSubmissions = all.shift();
  const submissionsSinceMs = (endedSubmissions.first() ?? submission).createdAtMs;
  const evictedSubmissions = settlement.evictedSubmissions + 1;
  return { ...settlement, endedSubmissions, evictedSubmissions, submissionsSinceMs };
}
