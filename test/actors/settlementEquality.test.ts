import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FoldRecord, RecordRefused } from '../../actors/folds/foldRecord.ts';
import { oracleSubject, reporterSubject, signerSubject } from '../../actors/messages/subjects.ts';
import { findOracleState } from '../../actors/settlement/oracleState.ts';
import {
  findBlockedReason,
  findQueueState,
  type QueueInput,
  settlementQueueStates,
} from '../../actors/settlement/queueState.ts';
import type { Settlement } from '../../actors/settlement/settlementActor.ts';
import { createSettlementActors, type SettlementActors } from '../../actors/settlement/settlementActors.ts';
import { openIncidentsMax } from '../../machines/settlementEvents.ts';
import { findSubmissionLifecycle } from '../../machines/settlementMachine.ts';
import type { SubmissionOutcome } from '../../machines/submission.ts';
import * as reference from '../reference/processAndStatus.ts';
import { type Settlement as ReferenceSettlement, startSettlement } from '../reference/settlement.ts';
import { genesisMs } from '../support/genesis.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { runs } from '../support/propertyRuns.ts';
import { preparedBody, signerBody } from '../support/readings/pipelineBodies.ts';
import { deriveUuid } from '../support/readings/readingMessages.ts';
import { oracleBody, reporterBody } from '../support/reference/settlementBodies.ts';
import { restoreState } from '../support/restoreState.ts';

const id = 'wheel.one';
const startMs = Date.UTC(2026, 0, 31, 12);
/** The stream stores a message this long after its time, or after the time that it names in advance. */
const storedAfterMs = 3_600_000;

interface Body {
  readonly kind: 'oracle' | 'reporter';
  readonly body: object;
}

const closure = fc
  .record({
    first: fc.nat(9),
    count: fc.nat(3),
    more: fc.constantFrom(0, 0, 0, 1),
    moved: fc.constantFrom(null, null, null, 0, 1),
  })
  .map(({ first, count, more, moved }) => ({
    type: 'closure_accepted',
    firstRound: String(first),
    // Without any round, with one too few, and with a wrong one, a closure is malformed.
    lastRound: String(first + count - 1 + more),
    rounds: Array.from({ length: count }, (_, index) => ({
      roundId: String(first + index + (index === moved ? 1 : 0)),
      workUnits: '7',
    })),
    acceptedAt: new Date(startMs + first * 1_000).toISOString(),
  }));

const message = fc.oneof(
  { weight: 2, arbitrary: fc.oneof(closure, oracleBody).map((body): Body => ({ kind: 'oracle', body })) },
  { weight: 6, arbitrary: reporterBody.map((body): Body => ({ kind: 'reporter', body })) },
);

/** How far `at` lies before the publisher's usual time; the last two are 300 s after the time of storing, and 1 ms more. */
const lateMs = fc.oneof(
  { weight: 20, arbitrary: fc.nat(5_000) },
  { weight: 1, arbitrary: fc.constantFrom(-storedAfterMs - 300_000, -storedAfterMs - 300_001) },
);

const step = fc.oneof(
  // `at` is the publisher's time, which may be earlier than in its previous message.
  { weight: 16, arbitrary: fc.record({ do: fc.constant('say' as const), message, lateMs }) },
  /** The stream stores an earlier message again, accepted or not. */
  { weight: 5, arbitrary: fc.record({ do: fc.constant('again' as const), index: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('manyIncidents' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

function restoreActors(records: Iterable<FoldRecord>): SettlementActors {
  const actors = createSettlementActors({ genesisMs });
  restoreState(actors, records);
  return actors;
}

/** Everything in memory except ended IDs, which later messages reveal. */
function describeSettlement({ snapshot, closedRounds, submissionsSinceMs, endedSubmissions }: Settlement) {
  return {
    ...snapshot.context,
    closedRounds: closedRounds.toArray(),
    submissionsSinceMs,
    endedSubmissions: endedSubmissions.toArray(),
  };
}

/** The reference's state in the same form. */
function describeReference(settlement: ReferenceSettlement): ReturnType<typeof describeSettlement> {
  const { closedRounds, oracleBlockedReason, runUnderWay, openIncidents, submissions, ...rest } = settlement;
  const [latest] = submissions.slice(-1).map(({ lifecycle, ...submission }) => ({
    ...submission,
    confirmedAtMs: lifecycle === 'confirmed' ? submission.terminalAtMs : null,
  }));
  return {
    ...rest,
    blockedReason: oracleBlockedReason,
    unfinishedRun: runUnderWay,
    openIncidents: [...openIncidents],
    submission: latest ?? null,
    closedRounds: [...closedRounds].map(([roundId, workUnits]) => ({ roundId, workUnits })),
    submissionsSinceMs: submissions[0]?.createdAtMs ?? null,
    endedSubmissions: submissions.flatMap(({ lifecycle, createdAtMs, submittedAtMs, terminalAtMs }) =>
      // A terminal lifecycle is an outcome.
      terminalAtMs === null
        ? []
        : [{ createdAtMs, submittedAtMs, terminalAtMs, outcome: lifecycle as SubmissionOutcome }],
    ),
  };
}

function view({ snapshot }: Settlement, input: Omit<QueueInput, 'snapshot'>) {
  return {
    oracle: findOracleState(snapshot, input.nowMs),
    blockedReason: findBlockedReason({ snapshot, ...input }),
    queue: findQueueState({ snapshot, ...input }),
    lifecycle: findSubmissionLifecycle(snapshot),
    isUnderWay: snapshot.matches({ submission: 'underWay' }),
  };
}

function viewReference(
  settlement: ReferenceSettlement,
  { isPaused, bufferedRoundCount: bufferedCount, nowMs }: Omit<QueueInput, 'snapshot'>,
) {
  const latest = settlement.submissions.at(-1);
  return {
    oracle: reference.findOracleState(settlement, nowMs),
    blockedReason: reference.findBlockedReason(settlement, isPaused),
    queue: reference.findQueueState(settlement, { isPaused, bufferedCount, nowMs }),
    lifecycle: latest?.lifecycle ?? null,
    isUnderWay: latest?.terminalAtMs === null,
  };
}

const inputs = [false, true].flatMap((isPaused) =>
  [0, 1].flatMap((bufferedRoundCount) =>
    // The run of `enabling` ends two seconds after the start and is stale after 600 seconds, an oracle after 1,200. A closure may be accepted after three.
    [0, 602_000, 602_001, 1_203_000, 1_203_001].map((afterMs) => ({
      isPaused,
      bufferedRoundCount,
      nowMs: startMs + afterMs,
    })),
  ),
);

/** A detail with `_` for times, durations, IDs and numbers. */
function blank(detail: string): string {
  return detail
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d+ \w+?s?(?: \d+ \w+)?(?= after)/g, '_')
    .replaceAll(/[0-9a-f-]{36}|\b(?:[0-9]+|[a-d](?=$|,))\b/gi, '_');
}

/** Outcomes that the sequences must reach. */
const met = [
  ...['closure_accepted', 'blocked', 'unblocked', 'epoch_approved', 'settings'],
  ...['run_started', 'run_finished', 'incident_opened', 'incident_closed', 'submission_prepared'],
  ...['submitted', 'retrying', 'confirmed', 'reverted', 'superseded'].map((move) => `submission_${move}`),
  ...settlementQueueStates.map((state) => `queue ${state}`),
  'message: expected a new one, given one that was accepted before',
  'firstRound: expected more than _, the last round of the newest closure, given _',
  'runId: expected a new run, given _, which is under way',
  'runId: expected a new run, given _, which has ended',
  'runId: expected none, since no run is under way, given _',
  'runId: expected _, given _',
  'incidentId: expected a new incident, given _, which is open',
  'incidentId: expected a new incident, given _, which has ended',
  'incidentId: expected an open incident, given _',
  'message: expected at most _ open incidents, given another one',
  ...['preparing', 'submitted', 'retrying'].map(
    (lifecycle) => `message: expected the end of submission _, which is ${lifecycle}, given submission _`,
  ),
  'submissionId: expected a new submission, given _, which has ended',
  'submissionId: expected none, since none is prepared, given _',
  'submissionId: expected _, given _',
  'type: expected a move of a submission that is preparing, given submission_confirmed',
  'type: expected a move of a submission that is submitted, given submission_submitted',
  'type: expected a move of a submission that is superseded, given submission_submitted',
  'at: expected at most _ after the stream stored it, given _, _ after it: check the clocks',
  'the end of round _: expected at most _ after the stream stored it, given _, _ after it: check the clocks',
  'expected.completedBlockCount: expected at most the block height of _, given _',
];

const say = (body: object) => ({
  do: 'say' as const,
  message: { kind: 'reporter', body } as Body,
  lateMs: 0,
});

/** Enables settlement and completes a run. */
const enabling = [
  { type: 'settings', settlementEnabled: true, reporterEnvironmentEnabled: true },
  { type: 'run_started', runId: 'first' },
  { type: 'run_finished', runId: 'first', result: 'ok' },
].map(say);

/** Every lifecycle of a submission while settlement is enabled, and what may not follow its end, which are rare by chance. */
const submit = (name: string, ...moves: readonly string[]) => {
  const submissionId = deriveUuid(name);
  const transactionHash = `0x${'a'.repeat(64)}`;
  const moved = moves.map((move) => ({
    ...{ type: `submission_${move}`, submissionId },
    ...(['submitted', 'retrying'].includes(move) && { transactionHash }),
  }));
  return [{ ...preparedBody, submissionId }, ...moved];
};
const allLifecycles = [
  ...submit('fixed', 'submitted', 'retrying', 'submitted', 'confirmed'),
  ...submit('fixed'),
  ...submit('superseded', 'superseded', 'submitted'),
].map(say);

describe('the settlement machine and the reference', () => {
  it('accept and reject the same messages, and show the same state', () => {
    const seen = new Map<string, number>();
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    const sameOutcomes = fc.property(
      fc.boolean(),
      fc.array(step, { maxLength: 80, size: 'max' }),
      (isEnabled, steps) => {
        let actors = createSettlementActors({ genesisMs });
        const { settlement: expectedSettlement, hear } = startSettlement(id, genesisMs);
        const said: { subject: string; data: Buffer }[] = [];

        /** Whether both have accepted a message. */
        const receive = (stored: { subject: string; data: Uint8Array }, storedAtMs: number) => {
          const before = actors.settlement(id);
          const timestampNanos = BigInt(storedAtMs) * 1_000_000n;
          const outcome = actors.receive({ ...stored, seq: 1, timestampNanos });
          const reason = hear({ ...stored, seq: 1, storedAtMs });
          if (outcome !== 'unread' && 'rejection' in outcome) {
            assert.equal(outcome.rejection.reason, reason);
            assert.equal(actors.settlement(id), before);
            count(blank(outcome.rejection.detail));
            return false;
          }
          assert.equal(reason, null);
          assert.notEqual(actors.settlement(id), before);
          count(JSON.parse(Buffer.from(stored.data).toString()).type);
          return true;
        };

        for (const [index, one] of [...(isEnabled ? enabling : []), ...steps].entries()) {
          // Some rounds have ended by then.
          const storedAtMs = startMs + storedAfterMs + index * 1_000;
          let isChanged = one.do === 'restart';
          if (one.do === 'say') {
            const { kind, body } = one.message;
            const at = new Date(storedAtMs - storedAfterMs - one.lateMs).toISOString();
            const subject = (kind === 'oracle' ? oracleSubject : reporterSubject)(id);
            const stored = { subject, data: Buffer.from(JSON.stringify({ at, ...body })) };
            said.push(stored);
            isChanged = receive(stored, storedAtMs);
          } else if (one.do === 'again' && said.length > 0) {
            isChanged = receive(said[one.index % said.length] as (typeof said)[number], storedAtMs);
          } else if (one.do === 'manyIncidents') {
            const at = new Date(storedAtMs - storedAfterMs).toISOString();
            for (let incident = 0; incident < openIncidentsMax; incident++) {
              const body = { type: 'incident_opened', at, incidentId: `many ${incident}`, reason: 'r' };
              isChanged = receive(jsonMessage(reporterSubject(id), body), storedAtMs) || isChanged;
            }
          }
          if (one.do === 'restart') actors = restoreActors(actors.capture());
          // A refused message has left the very same state.
          if (!isChanged) continue;
          const settlement = actors.settlement(id);
          assert.deepEqual(describeSettlement(settlement), describeReference(expectedSettlement));
          for (const input of inputs) {
            const expected = viewReference(expectedSettlement, input);
            assert.deepEqual(view(settlement, input), expected);
            count(`queue ${expected.queue}`);
          }
        }
      },
    );
    fc.assert(sameOutcomes, { numRuns: runs(100), examples: [[true, allLifecycles]] });
    // The sequences must reach every outcome. Rare ones sometimes need more runs.
    const isUnmet = (what: string) => !seen.has(what);
    for (let more = 0; more < 10 && met.some(isUnmet); more++) fc.assert(sameOutcomes, { numRuns: 100 });
    expect(met.filter(isUnmet)).toEqual([]);
  });
});

describe('a snapshot', () => {
  const listRecords = (): FoldRecord[] => {
    const actors = createSettlementActors({ genesisMs });
    const at = new Date(startMs).toISOString();
    actors.receive(jsonMessage(reporterSubject(id), { type: 'run_started', at, runId: 'a' }));
    return [...actors.capture()].filter(({ kind }) => ['settlement', 'heard'].includes(kind));
  };
  const isSettlement = ({ kind }: FoldRecord) => kind === 'settlement';

  it.each([
    ['has an unknown state', 'silent'],
    ['is under way, and there is none', 'preparing'],
    ['has ended, and there is none', 'confirmed'],
  ])('is refused if a submission %s', (_, submissionState) => {
    const records = listRecords();
    const [[, context], ...rest] = JSON.parse(records.find(isSettlement)?.value ?? '');
    const value = JSON.stringify([[submissionState, context], ...rest]);
    const damaged = records.map((one) => (isSettlement(one) ? { ...one, value } : one));
    expect(() => restoreActors(records)).not.toThrow();
    expect(() => restoreActors(damaged)).toThrow(/does not exist on/);
  });

  it('is refused if an ended submission is missing between others', () => {
    const records = [5, 7].map((index) => ({
      kind: 'endedSubmission',
      key: `${id}/${index}`,
      value: '[1,null,2,"reverted"]',
    }));
    const build = () => restoreActors([...listRecords(), ...records]);
    expect(build).toThrow(new RecordRefused('ended submission 6 is missing'));
  });

  it.each(['settlement', 'heard'])(
    'is refused if an installation has records and no record of `%s`',
    (missing) => {
      const actors = createSettlementActors({ genesisMs });
      actors.receive(jsonMessage(signerSubject(id), signerBody));
      const records = [...actors.capture()];
      expect(() => restoreActors(records)).not.toThrow();
      const others = records.filter(({ kind }) => kind !== missing);
      expect(others.length).toBeGreaterThan(0);
      expect(() => restoreActors(others)).toThrow(RecordRefused);
    },
  );
});
