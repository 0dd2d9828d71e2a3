import { describe, expect, it } from 'vitest';
import type { AnyStateMachine, AnyStateNode, EventFromLogic, StateValue } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { machines } from '../../deploy/machineDiagrams.ts';
import { moduleMachine } from '../../machines/moduleMachine.ts';
import { settlementMachine } from '../../machines/settlementMachine.ts';

/** Machines that invoke work are tested with those who provide it. */
const closed: [AnyStateMachine, EventFromLogic<AnyStateMachine>[]][] = [
  [moduleMachine, moduleMachine.events.map((type) => ({ type, observedAtMs: 0 }))],
  [settlementMachine, settlementEvents()],
];

/** What moves the regions; closures, epochs and settings have no states. */
function settlementEvents(): EventFromLogic<AnyStateMachine>[] {
  const atMs = 0;
  const move = { submissionId: 's', atMs };
  return [
    { type: 'blocked', reason: 'r' },
    { type: 'unblocked' },
    { type: 'run_started', runId: 'a', atMs, hasEnded: false },
    { type: 'run_finished', runId: 'a', atMs, result: 'ok' },
    { type: 'incident_opened', incidentId: 'i', hasEnded: false },
    { type: 'incident_closed', incidentId: 'i' },
    { type: 'submission_prepared', ...move, hasEnded: false },
    { type: 'submission_submitted', ...move, transactionHash: 'h' },
    { type: 'submission_retrying', ...move, transactionHash: null },
    { type: 'submission_confirmed', ...move },
    { type: 'submission_reverted', ...move },
    { type: 'submission_superseded', ...move },
  ];
}

function serialize(value: object): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? `${member}n` : member,
  );
}

/** Paths of the states that a state value consists of. */
function listPaths(value: StateValue, parent = ''): string[] {
  if (typeof value === 'string') return [`${parent}${value}`];
  return Object.entries(value).flatMap(([key, inner = {}]) => listPaths(inner, `${parent}${key}.`));
}

/** Paths of the states that hold no others. */
function listLeaves({ states }: AnyStateNode, parent = ''): string[] {
  return Object.entries(states).flatMap(([key, state]) =>
    Object.keys(state.states).length === 0 ? [`${parent}${key}`] : listLeaves(state, `${parent}${key}.`),
  );
}

/** What fails because nobody has provided it. */
function listMissing({ implementations: { actors, actions, guards, delays } }: AnyStateMachine): string {
  const works = Object.entries(actors).map(([name, logic]) => [name, (logic as { config?: unknown }).config]);
  const missing = [...works, ...Object.entries({ ...actions, ...guards, ...delays })].filter(([, work]) => {
    try {
      (work as (...args: object[]) => unknown)({}, {});
      return false;
    } catch (error) {
      return /^Error: an implementation .* is not provided$/.test(String(error));
    }
  });
  return missing.map(([name]) => name).join(' ');
}

/** States whose inside is no news. */
function listRoutine({ states, meta, path }: AnyStateNode): string[] {
  const inside = Object.values(states).flatMap(listRoutine);
  return meta?.isRoutineInside === true ? [path.join('.'), ...inside] : inside;
}

describe('every machine', () => {
  it('names what it needs and lacks, and which states alternate all the time', () => {
    expect(
      machines.map((machine) => [machine.id, listMissing(machine), listRoutine(machine.root).join(' ')]),
    ).toEqual([
      ['module', '', ''],
      ['settlement', '', ''],
      [
        'service',
        'watchConditions openJetStream compose audit closeNats closeDatabase reportJetStreamFailure',
        'course.online.reaching.openingJetStream',
      ],
      ['group', '', ''],
      ['server', 'port', ''],
      ['nats', 'connect link reportFailure', 'connecting'],
      ['databaseWatch', 'ask', 'unavailable lost reachable'],
      [
        'ingest',
        'readActive identify ensureStreams migrate beginEpoch chooseGeneration checkEpoch activate reportFailure reportReplay reportGrant reportActivationFailure releaseRebuild isFault',
        'leasing.ingesting.epoch',
      ],
      [
        'lease',
        'observe replace verify recreate reportFailure reportStandby reportTaken reportRenewalFailure isFault',
        'contending standby held',
      ],
      ['generationWatch', 'look useActive reportForeign', 'watching'],
      [
        'indexer',
        'askNode resume publishReads compare publishRanges publishBlocks proveBranch publishBranch awaitIdle awaitReconnection noteStarted isLostRace isStreamFailure isUnpublishable',
        '',
      ],
      ['messageSource', 'verify consume recreate noteInterruption report isFault', ''],
      [
        'streamFollower',
        'restore pipeline awaitIdle noteStarted noteRestoreFailure noteFault noteCaughtUp endSource isFault',
        '',
      ],
      ['fold', '', ''],
      ['delivery', 'deliver hasMore isDue gathering backoff', ''],
    ]);
  });

  it.each(closed.map(([machine, events]) => [machine.id, machine, events] as const))(
    '%s reaches each of its states, and leaves no final one',
    (_id, machine, events) => {
      const paths = getShortestPaths(machine, {
        events,
        serializeEvent: serialize,
        serializeState: ({ value, context }) => serialize({ value, context }),
      });
      const reached = new Set(paths.flatMap(({ state }) => listPaths(state.value)));
      expect([...reached].sort()).toEqual(listLeaves(machine.root).sort());
      for (const { state } of paths) {
        if (state.status !== 'done') continue;
        const final = machine.states[String(state.value)];
        expect(final?.type).toBe('final');
        expect(final?.transitions.size ?? 0).toBe(0);
      }
    },
  );
});
