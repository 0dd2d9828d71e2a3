import { z } from 'zod';
import type { SubmissionBatch } from '../../machines/submission.ts';
import { timestamp, transactionHash, uint64Decimal, uint256Decimal, uuid } from '../schemas/wireScalars.ts';

/** Maximum number of active rounds in one submission (MESSAGES.md, Reporter). */
export const activeRoundsMax = 16;

const at = timestamp;
const submissionId = uuid;
const name = z.string().min(1).max(128);

/** The core's sums that a submission expects after its batch. */
const expected = z.object({
  cumulativeWork: uint256Decimal,
  cumulativeBlockUnits: uint256Decimal,
  workPerThousandBlocks: uint256Decimal.refine(
    (decimal) => decimal !== '0',
    'expected a positive difficulty',
  ),
  completedBlockCount: uint64Decimal,
});

const prepared = z
  .object({
    type: z.literal('submission_prepared'),
    at,
    submissionId,
    previousSettledThroughRound: uint64Decimal,
    settledThroughRound: uint64Decimal,
    activeRoundCount: z.int().min(0).max(activeRoundsMax),
    expected,
  })
  .refine(
    ({ previousSettledThroughRound, settledThroughRound, activeRoundCount }) =>
      BigInt(settledThroughRound) - BigInt(previousSettledThroughRound) >=
      BigInt(Math.max(1, activeRoundCount)),
    'expected a later frontier, with no more active rounds than rounds',
  );

/** Messages of the settlement reporter on `miner.reporter.<installation>` (MESSAGES.md, Reporter). */
export const reporterMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('settings'),
    at,
    settlementEnabled: z.boolean(),
    reporterEnvironmentEnabled: z.boolean(),
  }),
  z.object({ type: z.literal('run_started'), at, runId: name }),
  z.object({ type: z.literal('run_finished'), at, runId: name, result: name }),
  prepared,
  z.object({ type: z.literal('submission_submitted'), at, submissionId, transactionHash }),
  z.object({
    type: z.literal('submission_retrying'),
    at,
    submissionId,
    transactionHash: transactionHash.nullable(),
  }),
  z.object({ type: z.literal('submission_confirmed'), at, submissionId }),
  z.object({ type: z.literal('submission_reverted'), at, submissionId }),
  z.object({ type: z.literal('submission_superseded'), at, submissionId }),
  z.object({ type: z.literal('incident_opened'), at, incidentId: name, reason: z.string().min(1).max(256) }),
  z.object({ type: z.literal('incident_closed'), at, incidentId: name }),
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
