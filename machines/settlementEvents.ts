import type { Submission, SubmissionBatch, SubmissionOutcome } from './submission.ts';

/** Counter epochs that may be approved, and incidents that may be open, at once. */
export const approvedEpochsMax = 256;
export const openIncidentsMax = 64;

interface Closure {
  readonly firstRound: bigint;
  readonly lastRound: bigint;
  readonly acceptedAtMs: number;
}

export interface ClosedRound {
  readonly roundId: bigint;
  readonly workUnits: bigint;
}

interface StartedRun {
  readonly runId: string;
  readonly startedAtMs: number;
}

interface FinishedRun {
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly result: string;
}

export interface SettlementContext {
  readonly closure: Closure | null;
  readonly blockedReason: string | null;
  readonly approvedEpochs: readonly string[];
  /** Both null until the reporter has said. */
  readonly settlementEnabled: boolean | null;
  readonly reporterEnvironmentEnabled: boolean | null;
  readonly lastRun: FinishedRun | null;
  readonly unfinishedRun: StartedRun | null;
  readonly openIncidents: readonly string[];
  /** The latest one. */
  readonly submission: Submission | null;
}

export interface SubmissionMove {
  readonly submissionId: string;
  readonly atMs: number;
}

/**
 * The messages of oracle and reporter. `hasEnded` is whether something with this ID has ended before: ended IDs are stored outside
 * the machine, because there are many.
 */
export type SettlementEvent =
  | ({ readonly type: 'closure_accepted'; readonly rounds: readonly ClosedRound[] } & Closure)
  | { readonly type: 'blocked'; readonly reason: string }
  | { readonly type: 'unblocked' }
  | { readonly type: 'epoch_approved'; readonly counterEpoch: string }
  | {
      readonly type: 'settings';
      readonly settlementEnabled: boolean;
      readonly reporterEnvironmentEnabled: boolean;
    }
  | {
      readonly type: 'run_started';
      readonly runId: string;
      readonly atMs: number;
      readonly hasEnded: boolean;
    }
  | {
      readonly type: 'run_finished';
      readonly runId: string;
      readonly atMs: number;
      readonly result: string;
    }
  | { readonly type: 'incident_opened'; readonly incidentId: string; readonly hasEnded: boolean }
  | { readonly type: 'incident_closed'; readonly incidentId: string }
  | ({
      readonly type: 'submission_prepared';
      readonly hasEnded: boolean;
    } & SubmissionMove &
      SubmissionBatch)
  | ({ readonly type: 'submission_submitted'; readonly transactionHash: string } & SubmissionMove)
  | ({ readonly type: 'submission_retrying'; readonly transactionHash: string | null } & SubmissionMove)
  | ({ readonly type: 'submission_confirmed' } & SubmissionMove)
  | ({ readonly type: 'submission_reverted' } & SubmissionMove)
  | ({ readonly type: 'submission_superseded' } & SubmissionMove)
  /** A message that was accepted before is stored again. No state accepts it. */
  | { readonly type: 'repeated' };

/** What the machine has done, for the lists outside it, which grow over time. */
export type SettlementEmission =
  | { readonly type: 'roundsClosed'; readonly rounds: readonly ClosedRound[] }
  | { readonly type: 'runEnded'; readonly runId: string }
  | { readonly type: 'incidentEnded'; readonly incidentId: string }
  | { readonly type: 'submissionPrepared'; readonly createdAtMs: number }
  | {
      readonly type: 'submissionEnded';
      readonly submissionId: string;
      readonly createdAtMs: number;
      readonly submittedAtMs: number | null;
      readonly terminalAtMs: number;
      readonly outcome: SubmissionOutcome;
    };
