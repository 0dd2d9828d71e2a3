import { z } from 'zod';
import type { SubmissionBatch } from '../../machines/submission.ts';
import { timestamp, transactionHash, uint64Decimal, uint256Decimal, uuid } from '../schemas/wireScalars.ts';

/** Maximum number of active rounds in one submission (MESSAGES.md, Reporter). */
export const activeRoundsMax = 16;

const at = timestamp.describe('When the reporter made the message');
const submissionId = uuid.describe('The submission. Each one has an ID of its own');
const runId = z.string().min(1).max(128).describe('The run. Each one has an ID of its own');
const incidentId = z.string().min(1).max(128).describe('The incident. Each one has an ID of its own');

/** The core's sums that a submission expects after its batch. */
const expected = z.object({
  cumulativeWork: uint256Decimal.describe('All settled work units'),
  cumulativeBlockUnits: uint256Decimal.describe('All settled block units, 1,000,000,000 for each work block'),
  workPerThousandBlocks: uint256Decimal
    .refine((decimal) => decimal !== '0', 'expected a positive difficulty')
    .describe('The difficulty after the batch: work units for 1,000 work blocks'),
  completedBlockCount: uint64Decimal.describe('Work blocks that the batch completes'),
});

const prepared = z
  .object({
    type: z.literal('submission_prepared'),
    at,
    submissionId,
    previousSettledThroughRound: uint64Decimal.describe(
      'The last settled round before the batch; 0 before any',
    ),
    settledThroughRound: uint64Decimal.describe('The last round of the batch'),
    activeRoundCount: z.int().min(0).max(activeRoundsMax).describe('Rounds of the batch with work'),
    expected: expected.describe('The sums of the core after the batch'),
  })
  .refine(
    ({ previousSettledThroughRound, settledThroughRound, activeRoundCount }) =>
      BigInt(settledThroughRound) - BigInt(previousSettledThroughRound) >=
      BigInt(Math.max(1, activeRoundCount)),
    {
      error: 'expected at least one round after previousSettledThroughRound, and one for each active round',
      path: ['settledThroughRound'],
    },
  );

/** Messages of the settlement reporter on `miner.reporter.<installation>` (MESSAGES.md, Reporter). */
export const reporterMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('settings'),
    at,
    settlementEnabled: z
      .boolean()
      .describe('Whether the reporter settles. Otherwise the queue is `disabled`'),
    reporterEnvironmentEnabled: z
      .boolean()
      .describe('Whether the environment of the reporter allows settlements. Routes only show it'),
  }),
  z.object({ type: z.literal('run_started'), at, runId }),
  z.object({
    type: z.literal('run_finished'),
    at,
    runId,
    result: z
      .string()
      .min(1)
      .max(128)
      .describe('How the run ended, in the words of the reporter, such as `confirmed`'),
  }),
  prepared,
  z.object({
    type: z.literal('submission_submitted'),
    at,
    submissionId,
    transactionHash: transactionHash.describe('The transaction of the batch'),
  }),
  z.object({
    type: z.literal('submission_retrying'),
    at,
    submissionId,
    transactionHash: transactionHash.nullable().describe('The newest transaction; null keeps the known one'),
  }),
  z.object({ type: z.literal('submission_confirmed'), at, submissionId }),
  z.object({ type: z.literal('submission_reverted'), at, submissionId }),
  z.object({ type: z.literal('submission_superseded'), at, submissionId }),
  z.object({
    type: z.literal('incident_opened'),
    at,
    incidentId,
    reason: z.string().min(1).max(256).describe('Why nothing settles while the incident is open'),
  }),
  z.object({ type: z.literal('incident_closed'), at, incidentId }),
]);
export type ReporterMessage = z.infer<typeof reporterMessage>;

/** The sums that a prepared submission expects, as numbers. */
export function toExpectedSums(sums: z.infer<typeof expected>): SubmissionBatch['expected'] {
  return {
    cumulativeWork: BigInt(sums.cumulativeWork),
    cumulativeBlockUnits: BigInt(sums.cumulativeBlockUnits),
    workPerThousandBlocks: BigInt(sums.workPerThousandBlocks),
    completedBlockCount: BigInt(sums.completedBlockCount),
  };
}
