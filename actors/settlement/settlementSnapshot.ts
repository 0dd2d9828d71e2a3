import { List } from 'immutable';
import { z } from 'zod';
import { settlementMachine } from '../../machines/settlementMachine.ts';
import { decodeIds, encodeIds } from './rememberedIds.ts';
import type { Settlement } from './settlementActor.ts';

/** Version of the machine's part of a snapshot: raised when its states or its context change. */
const machineVersion = 1;

const milliseconds = z.number();
const amount = z.bigint();

export const submissionSchema = z.strictObject({
  submissionId: z.string(),
  previousSettledThroughRound: amount,
  settledThroughRound: amount,
  activeRoundCount: z.int(),
  expected: z.strictObject({
    cumulativeWork: amount,
    cumulativeBlockUnits: amount,
    workPerThousandBlocks: amount,
    completedBlockCount: amount,
  }),
  transactionHash: z.string().nullable(),
  createdAtMs: milliseconds,
  submittedAtMs: milliseconds.nullable(),
  confirmedAtMs: milliseconds.nullable(),
  terminalAtMs: milliseconds.nullable(),
  changedAtMs: milliseconds,
});

export const contextSchema = z.strictObject({
  closure: z.strictObject({ firstRound: amount, lastRound: amount, acceptedAtMs: milliseconds }).nullable(),
  blockedReason: z.string().nullable(),
  approvedEpochs: z.array(z.string()),
  settlementEnabled: z.boolean(),
  reporterEnvironmentEnabled: z.boolean(),
  lastRun: z
    .strictObject({ startedAtMs: milliseconds, finishedAtMs: milliseconds, result: z.string() })
    .nullable(),
  unfinishedRun: z.strictObject({ runId: z.string(), startedAtMs: milliseconds }).nullable(),
  openIncidents: z.array(z.string()),
  submission: submissionSchema.nullable(),
});

/** Every region has to be there: XState puts one that is missing into its initial state, and says nothing. */
const valueSchema = z.strictObject({
  oracle: z.enum(['unblocked', 'blocked']),
  run: z.enum(['idle', 'running']),
  incidents: z.enum(['noneOpen', 'someOpen']),
  submission: z.union([
    z.literal('unprepared'),
    z.strictObject({ underWay: z.enum(['preparing', 'retryingUnsent', 'submitted', 'retrying']) }),
    z.strictObject({ ended: z.enum(['confirmed', 'reverted', 'superseded']) }),
  ]),
});

const persistedMachine = z
  .strictObject({ version: z.literal(machineVersion), value: valueSchema, context: contextSchema })
  .refine(
    ({ value, context }) =>
      (value.oracle === 'blocked') === (context.blockedReason !== null) &&
      (value.run === 'running') === (context.unfinishedRun !== null) &&
      (value.incidents === 'someOpen') === context.openIncidents.length > 0 &&
      (value.submission === 'unprepared') === (context.submission === null) &&
      (typeof value.submission === 'object' && 'ended' in value.submission) ===
        (context.submission !== null && context.submission.terminalAtMs !== null),
    'expected states that agree with the context',
  );
export type PersistedMachine = z.infer<typeof persistedMachine>;

const ids = z.strictObject({ keys: z.string(), stepsMs: z.array(milliseconds).readonly() });

export const settlementListsSchema = z.strictObject({
  closedRounds: z.array(z.strictObject({ roundId: amount, workUnits: amount })),
  submissionsSinceMs: milliseconds.nullable(),
  endedSubmissions: z.array(
    z.strictObject({
      createdAtMs: milliseconds,
      submittedAtMs: milliseconds.nullable(),
      terminalAtMs: milliseconds,
      outcome: z.enum(['confirmed', 'reverted', 'superseded']),
    }),
  ),
  ended: z.strictObject({ submissions: ids, runs: ids, incidents: ids }),
  acceptedMessages: ids,
});

/** Settlement of an installation, as a line of a snapshot has it. */
const encodedSettlement = settlementListsSchema.extend({ machine: persistedMachine });
export type EncodedSettlement = z.infer<typeof encodedSettlement>;

export function encodeSettlement(settlement: Settlement): EncodedSettlement {
  const { snapshot, closedRounds, submissionsSinceMs, endedSubmissions, ended, acceptedMessages } =
    settlement;
  return {
    machine: persistedMachine.parse({
      version: machineVersion,
      value: snapshot.value,
      context: snapshot.context,
    }),
    closedRounds: closedRounds.toArray(),
    submissionsSinceMs,
    endedSubmissions: endedSubmissions.toArray(),
    ended: {
      submissions: encodeIds(ended.submissions),
      runs: encodeIds(ended.runs),
      incidents: encodeIds(ended.incidents),
    },
    acceptedMessages: encodeIds(acceptedMessages),
  };
}

/** @throws ZodError when it is not what `encodeSettlement` makes. */
export function decodeSettlement(encoded: unknown): Settlement {
  const { machine, closedRounds, submissionsSinceMs, endedSubmissions, ended, acceptedMessages } =
    encodedSettlement.parse(encoded);
  const { value, context } = machine;
  return {
    snapshot: settlementMachine.resolveState({ value, context }),
    closedRounds: List(closedRounds),
    submissionsSinceMs,
    endedSubmissions: List(endedSubmissions),
    ended: {
      submissions: decodeIds(ended.submissions),
      runs: decodeIds(ended.runs),
      incidents: decodeIds(ended.incidents),
    },
    acceptedMessages: decodeIds(acceptedMessages),
  };
}
