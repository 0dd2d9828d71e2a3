import { List } from 'immutable';
import type { AnyStateNode, StateValue } from 'xstate';
import { z } from 'zod';
import {
  type SettlementSnapshot,
  settlementMachine,
  submissionOutcomes,
} from '../../machines/settlementMachine.ts';
import { decodeIds, encodeIds } from './rememberedIds.ts';
import type { Settlement } from './settlementActor.ts';

/** Version of the machine's part of a snapshot: raised when its states or its context change. */
export const machineVersion = 1;

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

/** Values of a state, from the machine itself. XState puts a region that is missing into its initial state, and says nothing. */
function createValueSchema({ type, states }: AnyStateNode): z.ZodType<StateValue> {
  const children = Object.entries(states);
  if (type === 'parallel') {
    return z.strictObject(
      Object.fromEntries(children.map(([key, state]) => [key, createValueSchema(state)])),
    );
  }
  return z.union(
    children.map(([key, state]) =>
      Object.keys(state.states).length === 0
        ? z.literal(key)
        : z.strictObject({ [key]: createValueSchema(state) }),
    ),
  );
}

const persistedMachine = z.strictObject({
  version: z.literal(machineVersion),
  value: createValueSchema(settlementMachine.root),
  context: contextSchema,
});

/** Whether the states are those that the context goes with. */
function isConsistent(snapshot: SettlementSnapshot): boolean {
  const { blockedReason, unfinishedRun, openIncidents, submission } = snapshot.context;
  return (
    snapshot.matches({ oracle: 'blocked' }) === (blockedReason !== null) &&
    snapshot.matches({ run: 'running' }) === (unfinishedRun !== null) &&
    snapshot.matches({ incidents: 'someOpen' }) === openIncidents.length > 0 &&
    snapshot.matches({ submission: 'unprepared' }) === (submission === null) &&
    snapshot.matches({ submission: 'ended' }) === (submission !== null && submission.terminalAtMs !== null)
  );
}

const ids = z.strictObject({ keys: z.string(), stepsMs: z.array(milliseconds).readonly() });

export const settlementListsSchema = z.strictObject({
  closedRounds: z.array(z.strictObject({ roundId: amount, workUnits: amount })),
  submissionsSinceMs: milliseconds.nullable(),
  endedSubmissions: z.array(
    z.strictObject({
      createdAtMs: milliseconds,
      submittedAtMs: milliseconds.nullable(),
      terminalAtMs: milliseconds,
      outcome: z.enum(submissionOutcomes),
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

/** @throws Error when it is not what `encodeSettlement` makes. */
export function decodeSettlement(encoded: unknown): Settlement {
  const { machine, closedRounds, submissionsSinceMs, endedSubmissions, ended, acceptedMessages } =
    encodedSettlement.parse(encoded);
  const { value, context } = machine;
  const snapshot = settlementMachine.resolveState({ value, context });
  if (!isConsistent(snapshot)) {
    throw new Error(`the states ${JSON.stringify(value)} of a settlement do not go with its context`);
  }
  return {
    snapshot,
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
