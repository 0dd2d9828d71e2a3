import fc from 'fast-check';
import { deriveUuid } from '../readings/readingMessages.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd');
/** IDs with letters in either case. */
const toId = (names: fc.Arbitrary<string>) =>
  fc.tuple(names.map(deriveUuid), fc.boolean()).map(([id, isUpper]) => (isUpper ? id.toUpperCase() : id));
const hash = fc.nat(3).map((seed) => `0x${seed.toString(16).padStart(64, '0')}`);

/** A text that is shown unchanged, or half of a surrogate pair, which no message may hold. */
const reason = fc.constantFrom('drift', 'drift', 'ü 😀', '\ud83d');

/** Random messages of a reporter, which mostly move the queue and its submissions. */
export const reporterBody = fc.oneof(
  fc.record({
    type: fc.constant('settings'),
    settlementEnabled: fc.constantFrom(true, true, false),
    reporterEnvironmentEnabled: fc.boolean(),
  }),
  fc.record({ type: fc.constant('run_started'), runId: name }),
  fc.record({
    type: fc.constant('run_finished'),
    runId: name,
    result: fc.constantFrom('ok', 'nothing to do'),
  }),
  fc.record({ type: fc.constant('incident_opened'), incidentId: name, reason }),
  fc.record({ type: fc.constant('incident_closed'), incidentId: name }),
  fc
    .record({
      submissionId: toId(name),
      rounds: fc.integer({ min: 0, max: 20 }),
      active: fc.nat(17),
      completed: fc.nat(3),
    })
    .map(({ submissionId, rounds, active, completed }) => ({
      type: 'submission_prepared',
      submissionId,
      previousSettledThroughRound: '3',
      settledThroughRound: String(3 + rounds),
      activeRoundCount: active,
      expected: {
        cumulativeWork: '1800',
        cumulativeBlockUnits: '2345678901',
        workPerThousandBlocks: '900001',
        completedBlockCount: String(completed),
      },
    })),
  fc.record({
    type: fc.constant('submission_submitted'),
    submissionId: toId(name),
    transactionHash: hash,
  }),
  fc.record({
    type: fc.constant('submission_retrying'),
    submissionId: toId(name),
    transactionHash: fc.option(hash),
  }),
  fc.record({
    type: fc.constantFrom('submission_confirmed', 'submission_reverted', 'submission_superseded'),
    submissionId: toId(name),
  }),
);

export const epochName = fc.constantFrom<string>('first', 'first', 'second');
/** Random messages of an oracle, except closures. */
export const oracleBody = fc.oneof(
  fc.constant({ type: 'unblocked' }),
  fc.record({ type: fc.constant('blocked'), reason }),
  fc.record({ type: fc.constant('epoch_approved'), counterEpoch: toId(epochName) }),
);
