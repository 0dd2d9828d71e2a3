/** How a submission can end. */
export const submissionOutcomes = ['confirmed', 'reverted', 'superseded'] as const;
export type SubmissionOutcome = (typeof submissionOutcomes)[number];

/** Lifecycle of a submission, as the contract documents it. The states of the machine carry them as tags. */
export const submissionLifecycles = ['preparing', 'submitted', 'retrying', ...submissionOutcomes] as const;
export type SubmissionLifecycle = (typeof submissionLifecycles)[number];

/** A batch as its prepared submission describes it, with the core's sums expected afterwards. */
export interface SubmissionBatch {
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  readonly activeRoundCount: number;
  readonly expected: {
    readonly cumulativeWork: bigint;
    readonly cumulativeBlockUnits: bigint;
    readonly workPerThousandBlocks: bigint;
    readonly completedBlockCount: bigint;
  };
}

export interface Submission extends SubmissionBatch {
  readonly submissionId: string;
  readonly transactionHash: string | null;
  readonly createdAtMs: number;
  readonly submittedAtMs: number | null;
  readonly confirmedAtMs: number | null;
  readonly terminalAtMs: number | null;
  readonly changedAtMs: number;
}
