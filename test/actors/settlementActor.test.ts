import { describe, expect, it } from 'vitest';
import { oracleSubject, reporterSubject } from '../../actors/messages/subjects.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { findSubmissionLifecycle } from '../../machines/settlementMachine.ts';
import { deriveUuid } from '../support/readings/readingMessages.ts';
import { restoreState } from '../support/restoreState.ts';

const atMs = Date.UTC(2026, 0, 31, 12);
const at = new Date(atMs).toISOString();
const later = new Date(atMs + 1_000).toISOString();
const hash = `0x${'a'.repeat(64)}`;
const first = deriveUuid('first');
const second = deriveUuid('second');

function startActors() {
  const actors = createSettlementActors();
  let seq = 0;
  const send = (subject: string, body: object) =>
    actors.receive({
      seq: ++seq,
      subject,
      data: Buffer.from(JSON.stringify({ at, ...body })),
      timestampNanos: 0n,
    });
  return {
    actors,
    oracle: (body: object) => send(oracleSubject('wheel.one'), body),
    reporter: (body: object) => send(reporterSubject('wheel.one'), body),
    state: () => actors.settlement('wheel.one'),
  };
}

const buildSubmission = (submissionId: string, overrides: object = {}) => ({
  type: 'submission_prepared',
  submissionId,
  previousSettledThroughRound: '0',
  settledThroughRound: '6',
  activeRoundCount: 3,
  expected: {
    cumulativeWork: '10',
    cumulativeBlockUnits: '2000000000',
    workPerThousandBlocks: '5000',
    completedBlockCount: '2',
  },
  ...overrides,
});
const buildClosure = (firstRound: number, lastRound: number, overrides: object = {}) => ({
  type: 'closure_accepted',
  firstRound: String(firstRound),
  lastRound: String(lastRound),
  rounds: Array.from({ length: lastRound - firstRound + 1 }, (_, index) => ({
    roundId: String(firstRound + index),
    workUnits: '7',
  })),
  acceptedAt: at,
  ...overrides,
});

describe('submissions', () => {
  const moves = {
    submitted: { type: 'submission_submitted', transactionHash: hash },
    retrying: { type: 'submission_retrying', transactionHash: null },
    confirmed: { type: 'submission_confirmed' },
    reverted: { type: 'submission_reverted' },
    superseded: { type: 'submission_superseded' },
  } as const;

  it.each([
    [[], ['submitted', 'retrying', 'superseded']],
    [['submitted'], ['retrying', 'confirmed', 'reverted', 'superseded']],
    [['retrying'], ['submitted', 'retrying', 'superseded']],
    [
      ['submitted', 'retrying'],
      ['submitted', 'retrying', 'confirmed', 'reverted', 'superseded'],
    ],
    [['submitted', 'confirmed'], []],
    [['submitted', 'reverted'], []],
    [['superseded'], []],
  ] as const)('after %j may become %j and nothing else', (moved, allowed) => {
    for (const next of Object.keys(moves) as (keyof typeof moves)[]) {
      const { reporter, state } = startActors();
      reporter(buildSubmission(first));
      for (const move of moved)
        expect(reporter({ ...moves[move], submissionId: first })).toHaveProperty('output');
      const before = state();
      const outcome = reporter({ ...moves[next], submissionId: first, at: later });
      if ((allowed as readonly string[]).includes(next)) {
        expect(outcome).toHaveProperty('output');
        expect(findSubmissionLifecycle(state().snapshot)).toBe(next);
      } else {
        expect(outcome).toHaveProperty('rejection.reason', 'not_allowed');
        expect(state()).toBe(before);
      }
    }
  });

  it('keep the hash that is known, and take a newer one', () => {
    const { reporter, state } = startActors();
    const shown = () => state().snapshot.context.submission?.transactionHash;
    const newer = `0x${'9'.repeat(64)}`;
    reporter(buildSubmission(first));
    reporter({ ...moves.submitted, submissionId: first });
    reporter({ ...moves.retrying, submissionId: first, at: later });
    expect(shown()).toBe(hash);
    reporter({ ...moves.retrying, transactionHash: newer, submissionId: first, at: later });
    reporter({ ...moves.retrying, submissionId: first, at: later });
    reporter({ ...moves.confirmed, submissionId: first, at: later });
    expect(shown()).toBe(newer);
  });

  it('follow one another once the one before has ended', () => {
    const { reporter, state } = startActors();
    expect(reporter({ ...moves.submitted, submissionId: first })).toHaveProperty(
      'rejection.reason',
      'not_allowed',
    );
    reporter(buildSubmission(first));
    expect(reporter(buildSubmission(second))).toHaveProperty('rejection.reason', 'not_allowed');
    expect(reporter({ ...moves.submitted, submissionId: second })).toHaveProperty(
      'rejection.reason',
      'not_allowed',
    );
    reporter({ ...moves.submitted, submissionId: first });
    reporter({ ...moves.confirmed, submissionId: first });
    expect(state().snapshot.context.submission).toMatchObject({
      submittedAtMs: atMs,
      confirmedAtMs: atMs,
      terminalAtMs: atMs,
    });
    expect(reporter(buildSubmission(first))).toHaveProperty('rejection.reason', 'not_allowed');
    expect(reporter(buildSubmission(second))).toHaveProperty('output');
    expect(state().endedSubmissions.toArray()).toEqual([
      { createdAtMs: atMs, submittedAtMs: atMs, terminalAtMs: atMs, outcome: 'confirmed' },
    ]);
  });

  it.each([
    { settledThroughRound: '0' },
    { activeRoundCount: 7 },
    { activeRoundCount: 17, settledThroughRound: '40' },
    { settledThroughRound: '18446744073709551616' },
    { expected: { cumulativeWork: '1' } },
    { expected: { ...buildSubmission('').expected, completedBlockCount: '3' } },
  ])('are malformed with %j', (overrides) => {
    const { reporter } = startActors();
    expect(reporter(buildSubmission(first, overrides))).toHaveProperty('rejection.reason', 'malformed');
  });

  it('expect sums up to their bounds, whatever a core could compute', () => {
    const height = 2n ** 64n - 1n;
    const bounds = {
      cumulativeWork: 1n,
      cumulativeBlockUnits: height * 1_000_000_000n + 999_999_999n,
      workPerThousandBlocks: height * 1_000n,
      completedBlockCount: height,
    };
    const submit = (changes: object) => {
      const sums = Object.entries({ ...bounds, ...changes }).map(([name, sum]) => [name, String(sum)]);
      return startActors().reporter(buildSubmission(first, { expected: Object.fromEntries(sums) }));
    };
    expect(submit({})).toHaveProperty('output');
    for (const excess of [
      { cumulativeBlockUnits: bounds.cumulativeBlockUnits + 1n },
      { workPerThousandBlocks: bounds.workPerThousandBlocks + 1n },
      { cumulativeBlockUnits: height * 1_000_000_000n - 1n },
    ])
      expect(submit(excess)).toHaveProperty('rejection.reason', 'malformed');
  });
});

describe('closures, runs and incidents', () => {
  it('close each round once, and may leave a gap that the projection reports', () => {
    const { oracle, state } = startActors();
    expect(oracle(buildClosure(1, 3))).toHaveProperty('output');
    const before = state();
    for (const bad of [buildClosure(3, 4), buildClosure(1, 3), buildClosure(2, 2)]) {
      expect(oracle(bad)).toHaveProperty('rejection.reason', 'not_allowed');
    }
    expect(state()).toBe(before);
    expect(oracle(buildClosure(6, 7))).toHaveProperty('output');
    expect(
      state()
        .closedRounds.toArray()
        .map(({ roundId }) => Number(roundId)),
    ).toEqual([1, 2, 3, 6, 7]);
    for (const bad of [{ lastRound: '9' }, { firstRound: '0' }, { rounds: [] }]) {
      expect(oracle(buildClosure(8, 8, bad))).toHaveProperty('rejection.reason', 'malformed');
    }
  });

  it('approve epochs in either case, block and unblock', () => {
    const { oracle, state } = startActors();
    const epoch = deriveUuid('epoch');
    oracle({ type: 'epoch_approved', counterEpoch: epoch.toUpperCase() });
    oracle({ type: 'epoch_approved', counterEpoch: epoch });
    expect(state().snapshot.context.approvedEpochs).toEqual([epoch]);
    oracle({ type: 'blocked', reason: 'sensor fault' });
    expect(state().snapshot.context.blockedReason).toBe('sensor fault');
    oracle({ type: 'unblocked' });
    expect(state().snapshot.context.blockedReason).toBeNull();
  });

  it('finish the run that was started, and close incidents that are open', () => {
    const { reporter, state } = startActors();
    expect(reporter({ type: 'run_finished', runId: 'a', result: 'ok' })).toHaveProperty('rejection');
    reporter({ type: 'run_started', runId: 'a' });
    expect(reporter({ type: 'run_finished', runId: 'b', result: 'ok' })).toHaveProperty('rejection');
    expect(reporter({ type: 'run_finished', runId: 'a', result: 'ok' })).toHaveProperty('output');
    expect(state().snapshot.context.lastRun).toEqual({ startedAtMs: atMs, finishedAtMs: atMs, result: 'ok' });
    expect(reporter({ type: 'incident_closed', incidentId: 'i' })).toHaveProperty('rejection');
    reporter({ type: 'incident_opened', incidentId: 'i', reason: 'stuck' });
    expect(reporter({ type: 'incident_opened', incidentId: 'i', reason: 'stuck' })).toHaveProperty(
      'rejection',
    );
    expect(reporter({ type: 'incident_closed', incidentId: 'i' })).toHaveProperty('output');
    expect(state().snapshot.context.openIncidents).toEqual([]);
  });

  it('are restored from what was captured, to the bigint', () => {
    const { actors, oracle, reporter, state } = startActors();
    oracle(buildClosure(1, 3));
    reporter({ type: 'settings', settlementEnabled: true, reporterEnvironmentEnabled: false });
    reporter(
      buildSubmission(first, {
        previousSettledThroughRound: '1',
        expected: {
          cumulativeWork: (2n ** 255n).toString(),
          cumulativeBlockUnits: '1',
          workPerThousandBlocks: (2n ** 70n).toString(),
          completedBlockCount: '0',
        },
      }),
    );
    const restored = createSettlementActors();
    restoreState(restored, actors.capture().all());
    expect(restored.settlement('wheel.one')).toEqual(state());
  });
});
