import { describe, expect, it } from 'vitest';
import { oracleSubject, reporterSubject } from '../../actors/messages/subjects.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { findSubmissionLifecycle } from '../../machines/settlementMachine.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { deriveUuid } from '../support/readings/readingMessages.ts';

const atMs = Date.UTC(2026, 0, 31, 12);
const at = new Date(atMs).toISOString();
const later = new Date(atMs + 1_000).toISOString();
const hash = `0x${'a'.repeat(64)}`;
const first = deriveUuid('first');

function startActors() {
  const actors = createSettlementActors();
  const send = (subject: string, body: object) => actors.receive(jsonMessage(subject, { at, ...body }));
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

  it('expect sums up to their bounds, even if no core could compute them', () => {
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

it.each([{ lastRound: '9' }, { firstRound: '0' }, { rounds: [] }])(
  'a closure is malformed with %j',
  (overrides) => {
    const { oracle } = startActors();
    expect(oracle(buildClosure(8, 8, overrides))).toHaveProperty('rejection.reason', 'malformed');
  },
);
