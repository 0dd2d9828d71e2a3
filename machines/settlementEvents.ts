import { z } from 'zod';
import type { Inferred } from './inferred.ts';
import { type SubmissionBatch, type SubmissionOutcome, submission } from './submission.ts';

export const approvedEpochsMax = 256;
export const openIncidentsMax = 64;

const closure = z.strictObject({ firstRound: z.bigint(), lastRound: z.bigint(), acceptedAtMs: z.int() });
type Closure = Inferred<typeof closure>;

export const closedRound = z.strictObject({ roundId: z.bigint(), workUnits: z.bigint() });
export type ClosedRound = Inferred<typeof closedRound>;

export const settlementContext = z.strictObject({
  closure: closure.nullable(),
  blockedReason: z.string().nullable(),
  approvedEpochs: z.array(z.string()),
  /** Both settings are null until the reporter publishes them. */
  settlementEnabled: z.boolean().nullable(),
  reporterEnvironmentEnabled: z.boolean().nullable(),
  lastRun: z.strictObject({ startedAtMs: z.int(), finishedAtMs: z.int(), result: z.string() }).nullable(),
  unfinishedRun: z.strictObject({ runId: z.string(), startedAtMs: z.int() }).nullable(),
  openIncidents: z.array(z.string()),
  submission: submission.nullable(),
});
export type SettlementContext = Inferred<typeof settlementContext>;

export interface SubmissionMove {
  readonly submissionId: string;
  readonly atMs: number;
}

/**
 * The messages of oracle and reporter. `hasEnded` says whether something with this ID has ended before. Ended IDs are kept outside
 * the machine, because they are many.
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
  /** The stream stored a message again that was accepted before. No state accepts it. */
  | { readonly type: 'repeated' };

/** Emissions for the lists outside the machine, which grow over time. */
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
