import { List } from 'immutable';
import { createActor, getInitialSnapshot } from 'xstate';
import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import type { ClosedRound, SettlementEmission, SettlementEvent } from '../../machines/settlementEvents.ts';
import { type SettlementSnapshot, settlementMachine } from '../../machines/settlementMachine.ts';
import { submissionOutcomes } from '../../machines/submission.ts';
import { type Decoded, type Rejection, reject } from '../messages/decodeMessage.ts';
import { milliseconds } from '../schemas/stateScalars.ts';
import type { SettlementStreamMessage } from './decodeSettlement.ts';
import { explainRefusal } from './explainRefusal.ts';
import { isRemembered, noRememberedIds, type RememberedIds, rememberId } from './rememberedIds.ts';
import { type EndedIds, toOracleEvent, toReporterEvent } from './toSettlementEvent.ts';

/** Closed rounds that are retained: those above the settled frontier are needed, and a year of them is 52,560. */
export const closedRoundsMax = 60_000;
/** Ended submissions that are retained for the statistics. */
export const endedSubmissionsMax = 10_000;

export const endedSubmission = z.strictObject({
  createdAtMs: milliseconds,
  submittedAtMs: milliseconds.nullable(),
  terminalAtMs: milliseconds,
  outcome: z.enum(submissionOutcomes),
});
export type EndedSubmission = Inferred<typeof endedSubmission>;

/** Settlement of one installation: where it stands, and the lists that grow with time. Immutable. */
export interface Settlement {
  readonly snapshot: SettlementSnapshot;
  /** Ascending; a round that is skipped by the closures is missing here. */
  readonly closedRounds: List<ClosedRound>;
  /** When the first submission was prepared that the statistics still count; null before any. */
  readonly submissionsSinceMs: number | null;
  /** Oldest first. */
  readonly endedSubmissions: List<EndedSubmission>;
  /** How many had ended before the oldest of them. */
  readonly evictedSubmissions: number;
  readonly ended: EndedIds;
  /** Messages that were accepted: each counts once, also when it is stored again. */
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

export interface SettlementActor {
  /** Null when the message is folded. `storedAtMs` is when the stream stored it (epoch milliseconds). */
  receive(message: SettlementMessage, storedAtMs: number): Rejection | null;
  /** The same object until a message is folded. */
  settlement(): Settlement;
}

export function createSettlementActor(restored: Settlement): SettlementActor {
  const actor = createActor(settlementMachine, { snapshot: restored.snapshot });
  let emitted: SettlementEmission[] = [];
  actor.on('*', (emission) => emitted.push(emission));
  actor.start();
  let settlement = restored;

  function receive(message: SettlementMessage, storedAtMs: number): Rejection | null {
    const id = identify(message);
    const decoded = toEvent(message, id, settlement);
    if ('rejection' in decoded) return decoded.rejection;
    const event = decoded.value;
    if (!settlement.snapshot.can(event)) {
      return reject('not_allowed', explainRefusal(settlement.snapshot, event)).rejection;
    }
    emitted = [];
    actor.send(event);
    const snapshot = actor.getSnapshot();
    // An actor whose machine throws keeps the error to itself.
    if (snapshot.status === 'error') throw snapshot.error;
    const added = emitted.reduce((lists, emission) => addEmission(lists, emission, storedAtMs), settlement);
    const acceptedMessages = rememberId(added.acceptedMessages, id, storedAtMs);
    settlement = { ...added, snapshot, acceptedMessages };
    return null;
  }

  return { receive, settlement: () => settlement };
}

/** A message as it is remembered once it is accepted. Snapshots hold digests of it, so it is of one form for ever. */
function identify({ kind, message }: SettlementMessage): string {
  return JSON.stringify({ kind, message });
}

/**
 * A message that was accepted before is not allowed again: the stream stores a message that is published again after its
 * dedupe window, and a setting or a block that was overtaken since must not come back.
 */
function toEvent(
  received: SettlementMessage,
  id: string,
  { acceptedMessages, ended }: Settlement,
): Decoded<SettlementEvent> {
  if (isRemembered(acceptedMessages, id)) return { value: { type: 'repeated' } };
  return received.kind === 'oracle'
    ? { value: toOracleEvent(received.message) }
    : toReporterEvent(received.message, ended);
}

/** What the machine has done goes to the lists that grow with time. */
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

/** The statistics cover only the submissions that are retained. */
function addEndedSubmission(settlement: Settlement, submission: EndedSubmission): Settlement {
  const all = settlement.endedSubmissions.push(submission);
  if (all.size <= endedSubmissionsMax) return { ...settlement, endedSubmissions: all };
  const endedSubmissions = all.shift();
  const submissionsSinceMs = endedSubmissions.first()?.createdAtMs ?? submission.createdAtMs;
  const evictedSubmissions = settlement.evictedSubmissions + 1;
  return { ...settlement, endedSubmissions, evictedSubmissions, submissionsSinceMs };
}
