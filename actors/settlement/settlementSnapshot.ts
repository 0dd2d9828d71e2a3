import { List } from 'immutable';
import type { AnyStateNode, StateValue } from 'xstate';
import { z } from 'zod';
import type { ClosedRound } from '../../machines/settlementEvents.ts';
import { type SettlementSnapshot, settlementMachine } from '../../machines/settlementMachine.ts';
import { submissionOutcomes } from '../../machines/submission.ts';
import { defineRecord, type FoldRecord, RecordRefused } from '../foldRecord.ts';
import { encodeChangedIds, encodeIds, type RememberedIds } from './rememberedIds.ts';
import type { EndedSubmission, Settlement } from './settlementActor.ts';

/** Version of the machine's part of a snapshot: raised when its states or its context change. */
const machineVersion = 1;

const milliseconds = z.int();
const amount = z.bigint();

const submissionSchema = z.strictObject({
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

const contextSchema = z.strictObject({
  closure: z.strictObject({ firstRound: amount, lastRound: amount, acceptedAtMs: milliseconds }).nullable(),
  blockedReason: z.string().nullable(),
  approvedEpochs: z.array(z.string()),
  settlementEnabled: z.boolean().nullable(),
  reporterEnvironmentEnabled: z.boolean().nullable(),
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

const closedRound = z.strictObject({ roundId: amount, workUnits: amount });

const endedSubmission = z.strictObject({
  createdAtMs: milliseconds,
  submittedAtMs: milliseconds.nullable(),
  terminalAtMs: milliseconds,
  outcome: z.enum(submissionOutcomes),
});

const idRun = z.strictObject({ from: z.int(), keys: z.string(), stepsMs: z.array(milliseconds) });

/** Keys begin with the installation. */
export const settlementRecords = {
  /** One of each installation. */
  settlement: defineRecord(
    'settlement',
    z.strictObject({ machine: persistedMachine, submissionsSinceMs: milliseconds.nullable() }),
  ),
  /** By round. */
  closedRound: defineRecord('closedRound', closedRound),
  /** By index among all that have ended. */
  endedSubmission: defineRecord('endedSubmission', endedSubmission),
  /** By list, and number of the record. */
  rememberedIds: defineRecord('rememberedIds', idRun),
} as const;

/** Lists of remembered IDs of an installation. */
export type IdList = 'submissions' | 'runs' | 'incidents' | 'messages' | 'signers';

export function* encodeSettlement(installationId: string, settlement: Settlement): Iterable<FoldRecord> {
  const { closedRounds, endedSubmissions, evictedSubmissions, ended, acceptedMessages } = settlement;
  yield encodeMachine(installationId, settlement);
  for (const one of closedRounds)
    yield settlementRecords.closedRound.write(`${installationId}/${one.roundId}`, one);
  for (const [index, one] of endedSubmissions.entries())
    yield settlementRecords.endedSubmission.write(`${installationId}/${evictedSubmissions + index}`, one);
  yield* encodeIdList(installationId, 'submissions', ended.submissions);
  yield* encodeIdList(installationId, 'runs', ended.runs);
  yield* encodeIdList(installationId, 'incidents', ended.incidents);
  yield* encodeIdList(installationId, 'messages', acceptedMessages);
}

function encodeMachine(installationId: string, { snapshot, submissionsSinceMs }: Settlement): FoldRecord {
  const { value, context } = snapshot;
  return settlementRecords.settlement.write(installationId, {
    machine: persistedMachine.parse({ version: machineVersion, value, context }),
    submissionsSinceMs,
  });
}

export function* encodeIdList(
  installationId: string,
  list: IdList,
  ids: RememberedIds,
): Iterable<FoldRecord> {
  for (const [number, run] of encodeIds(ids))
    yield settlementRecords.rememberedIds.write(`${installationId}/${list}/${number}`, run);
}

/** The records of `after` that differ from those of `before`. */
export function* encodeSettlementChanges(
  installationId: string,
  before: Settlement,
  after: Settlement,
): Iterable<FoldRecord> {
  if (before === after) return;
  yield encodeMachine(installationId, after);
  // Closures come in order.
  const [lastBefore = -1n, firstAfter] = [before.closedRounds.last()?.roundId, after.closedRounds.first()];
  for (const one of before.closedRounds) {
    if (firstAfter === undefined || one.roundId >= firstAfter.roundId) break;
    yield settlementRecords.closedRound.writeChange(`${installationId}/${one.roundId}`, undefined);
  }
  const closed = after.closedRounds.toSeq().reverse();
  for (const one of closed.takeWhile(({ roundId }) => roundId > lastBefore))
    yield settlementRecords.closedRound.write(`${installationId}/${one.roundId}`, one);
  for (let index = before.evictedSubmissions; index < after.evictedSubmissions; index++)
    yield settlementRecords.endedSubmission.writeChange(`${installationId}/${index}`, undefined);
  const endBefore = before.evictedSubmissions + before.endedSubmissions.size;
  const endAfter = after.evictedSubmissions + after.endedSubmissions.size;
  for (let index = Math.max(endBefore, after.evictedSubmissions); index < endAfter; index++) {
    const one = after.endedSubmissions.get(index - after.evictedSubmissions);
    yield settlementRecords.endedSubmission.writeChange(`${installationId}/${index}`, one);
  }
  for (const list of ['submissions', 'runs', 'incidents'] as const)
    yield* encodeIdListChanges(installationId, list, before.ended[list], after.ended[list]);
  yield* encodeIdListChanges(installationId, 'messages', before.acceptedMessages, after.acceptedMessages);
}

export function* encodeIdListChanges(
  installationId: string,
  list: IdList,
  before: RememberedIds,
  after: RememberedIds,
): Iterable<FoldRecord> {
  for (const [number, run] of encodeChangedIds(before, after))
    yield settlementRecords.rememberedIds.writeChange(`${installationId}/${list}/${number}`, run);
}

/** What the records of one installation hold. */
interface SettlementParts {
  readonly machine: z.output<typeof persistedMachine>;
  readonly submissionsSinceMs: number | null;
  readonly closedRounds: Iterable<ClosedRound>;
  /** By index among all that have ended. */
  readonly endedSubmissions: ReadonlyMap<number, EndedSubmission>;
  readonly ids: Readonly<Record<Exclude<IdList, 'signers'>, RememberedIds>>;
}

/** @throws RecordRefused when the parts do not go with each other. */
export function buildSettlement(parts: SettlementParts): Settlement {
  const { machine, submissionsSinceMs, closedRounds, endedSubmissions, ids } = parts;
  const { submissions, runs, incidents } = ids;
  const indexes = [...endedSubmissions.keys()].sort((a, b) => a - b);
  const evictedSubmissions = indexes[0] ?? 0;
  return {
    snapshot: resolveMachine(machine),
    closedRounds: List([...closedRounds].sort((a, b) => (a.roundId < b.roundId ? -1 : 1))),
    submissionsSinceMs,
    endedSubmissions: List(
      indexes.map((_, at) => {
        const one = endedSubmissions.get(evictedSubmissions + at);
        if (one === undefined)
          throw new RecordRefused(`ended submission ${evictedSubmissions + at} is missing`);
        return one;
      }),
    ),
    evictedSubmissions,
    ended: { submissions, runs, incidents },
    acceptedMessages: ids.messages,
  };
}

function resolveMachine({ value, context }: z.output<typeof persistedMachine>): SettlementSnapshot {
  const snapshot = settlementMachine.resolveState({ value, context });
  if (isConsistent(snapshot)) return snapshot;
  throw new RecordRefused(`the states ${JSON.stringify(value)} of a settlement do not go with its context`);
}
