import { assertEvent, assign, emit, type SnapshotFrom } from 'xstate';
import { requireValue } from './requireValue.ts';
import {
  approvedEpochsMax,
  openIncidentsMax,
  type SettlementContext,
  type SettlementEvent,
} from './settlementEvents.ts';
import { isNew, settlement } from './settlementSetup.ts';
import { type SubmissionLifecycle, submissionLifecycles } from './submission.ts';
import { submissionStates } from './submissionStates.ts';

export type SettlementSnapshot = SnapshotFrom<typeof settlementMachine>;

/** A guard takes events of one type, or of several types that share the fields that it reads. */
type GuardArguments<Type extends SettlementEvent['type']> = {
  readonly context: SettlementContext;
  readonly event: Extract<SettlementEvent, { type: Type }>;
};

function continuesClosures({ context, event }: GuardArguments<'closure_accepted'>): boolean {
  return context.closure === null || event.firstRound > context.closure.lastRound;
}

function isAnother({ context, event }: GuardArguments<'run_started'>): boolean {
  return !event.hasEnded && context.unfinishedRun?.runId !== event.runId;
}

function isUnfinished({ context, event }: GuardArguments<'run_finished'>): boolean {
  return context.unfinishedRun?.runId === event.runId;
}

function isOneMore({ context, event }: GuardArguments<'incident_opened'>): boolean {
  return (
    !event.hasEnded &&
    !context.openIncidents.includes(event.incidentId) &&
    context.openIncidents.length < openIncidentsMax
  );
}

function isOpen({ context, event }: GuardArguments<'incident_closed'>): boolean {
  return context.openIncidents.includes(event.incidentId);
}

function isLastOpen({ context, event }: GuardArguments<'incident_closed'>): boolean {
  return context.openIncidents.length === 1 && context.openIncidents[0] === event.incidentId;
}

const emitEndedRun = settlement.emit(({ context }) => ({
  type: 'runEnded',
  runId: requireValue(context.unfinishedRun, 'the run that ends').runId,
}));

const startRun = settlement.assign(({ event }) => {
  assertEvent(event, 'run_started');
  return { unfinishedRun: { runId: event.runId, startedAtMs: event.atMs } };
});

const openIncident = settlement.assign(({ context, event }) => {
  assertEvent(event, 'incident_opened');
  return { openIncidents: [...context.openIncidents, event.incidentId] };
});

const closeIncident = settlement.enqueueActions(({ context, event, enqueue }) => {
  assertEvent(event, 'incident_closed');
  const { incidentId } = event;
  enqueue.assign({ openIncidents: context.openIncidents.filter((one) => one !== incidentId) });
  enqueue.emit({ type: 'incidentEnded', incidentId });
});

/**
 * Settlement of one installation. Its events are the messages of oracle and reporter; `snapshot.can(event)` tells whether a
 * message is allowed. Closures, approved epochs and settings have no states.
 */
export const settlementMachine = settlement.createMachine({
  id: 'settlement',
  type: 'parallel',
  context: {
    closure: null,
    blockedReason: null,
    approvedEpochs: [],
    settlementEnabled: null,
    reporterEnvironmentEnabled: null,
    lastRun: null,
    unfinishedRun: null,
    openIncidents: [],
    submission: null,
  },
  on: {
    closure_accepted: {
      guard: continuesClosures,
      actions: [
        assign({
          closure: ({ event: { firstRound, lastRound, acceptedAtMs } }) => ({
            firstRound,
            lastRound,
            acceptedAtMs,
          }),
        }),
        emit(({ event }) => ({ type: 'roundsClosed', rounds: event.rounds })),
      ],
    },
    epoch_approved: {
      actions: assign({
        approvedEpochs: ({ context, event: { counterEpoch } }) =>
          [...context.approvedEpochs.filter((one) => one !== counterEpoch), counterEpoch].slice(
            -approvedEpochsMax,
          ),
      }),
    },
    settings: {
      actions: assign(({ event: { settlementEnabled, reporterEnvironmentEnabled } }) => ({
        settlementEnabled,
        reporterEnvironmentEnabled,
      })),
    },
  },
  states: {
    oracle: {
      initial: 'unblocked',
      on: {
        blocked: { target: '.blocked', actions: assign({ blockedReason: ({ event }) => event.reason }) },
        unblocked: { target: '.unblocked', actions: assign({ blockedReason: null }) },
      },
      states: { unblocked: {}, blocked: {} },
    },
    run: {
      initial: 'idle',
      states: {
        idle: { on: { run_started: { guard: isNew, target: 'running', actions: startRun } } },
        running: {
          on: {
            /** A newer run replaces the unfinished one, which thereby ends. */
            run_started: { guard: isAnother, target: 'running', actions: [emitEndedRun, startRun] },
            run_finished: {
              guard: isUnfinished,
              target: 'idle',
              actions: [
                emitEndedRun,
                assign(({ context, event: { atMs, result } }) => ({
                  lastRun: {
                    startedAtMs: requireValue(context.unfinishedRun, 'the run that finishes').startedAtMs,
                    finishedAtMs: atMs,
                    result,
                  },
                  unfinishedRun: null,
                })),
              ],
            },
          },
        },
      },
    },
    incidents: {
      initial: 'noneOpen',
      states: {
        noneOpen: { on: { incident_opened: { guard: isNew, target: 'someOpen', actions: openIncident } } },
        someOpen: {
          on: {
            incident_opened: { guard: isOneMore, actions: openIncident },
            incident_closed: [
              { guard: isLastOpen, target: 'noneOpen', actions: closeIncident },
              { guard: isOpen, actions: closeIncident },
            ],
          },
        },
      },
    },
    submission: submissionStates,
  },
});

/** Documented lifecycle of the latest submission; null before any was prepared. */
export function findSubmissionLifecycle(snapshot: SettlementSnapshot): SubmissionLifecycle | null {
  return submissionLifecycles.find((lifecycle) => snapshot.hasTag(lifecycle)) ?? null;
}
