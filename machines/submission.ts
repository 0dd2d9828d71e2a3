import { z } from 'zod';
import type { Inferred } from './inferred.ts';

export const submissionOutcomes = ['confirmed', 'reverted', 'superseded'] as const;
export type SubmissionOutcome = (typeof submissionOutcomes)[number];

/** Lifecycle of a submission, as the contract documents it. The machine's states carry these names as tags. */
export const submissionLifecycles = ['preparing', 'submitted', 'retrying', ...submissionOutcomes] as const;
export type SubmissionLifecycle = (typeof submissionLifecycles)[number];

/** The batch of a prepared submission, with the core's sums that it expects afterwards. */
const submissionBatch = z.strictObject({
  previousSettledThroughRound: z.bigint(),
  settledThroughRound: z.bigint(),
  activeRoundCount: z.int(),
  expected: z.strictObject({
    cumulativeWork: z.bigint(),
    cumulativeBlockUnits: z.bigint(),
    workPerThousandBlocks: z.bigint(),
    completedBlockCount: z.bigint(),
  }),
});
export type SubmissionBatch = Inferred<typeof submissionBatch>;

export const submission = z.strictObject({
  submissionId: z.string(),
  ...submissionBatch.shape,
  transactionHash: z.string().nullable(),
  createdAtMs: z.int(),
  submittedAtMs: z.int().nullable(),
  confirmedAtMs: z.int().nullable(),
  terminalAtMs: z.int().nullable(),
  changedAtMs: z.int(),
});
export type Submission = Inferred<typeof submission>;
