import { List } from 'immutable';
import type { AnyStateNode, StateValue } from 'xstate';
import { z } from 'zod';
import { type ClosedRound, closedRound, settlementContext } from '../../machines/settlementEvents.ts';
import { type SettlementSnapshot, settlementMachine } from '../../machines/settlementMachine.ts';
import { defineRecord, type FoldRecord, RecordRefused } from '../folds/foldRecord.ts';
import { milliseconds } from '../schemas/stateScalars.ts';
import { encodeIds, idRun, type RememberedIds } from './rememberedIds.ts';
import { type EndedSubmission, endedSubmission, type Settlement } from './settlementActor.ts';

/** Version of the machine's part of a snapshot. Raise it when the machine's states or context change. */
const machineVersion = 1;

/** Schema of a machine's state values. XState would silently put a missing region into its initial state. */
function createValueSchema({ type, states }: AnyStateNode): z.ZodType<StateValue, StateValue> {
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
  context: settlementContext,
});

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

/** Kinds of records of a settlement. Each key begins with the installation. */
export const settlementRecords = {
  /** One per installation. */
  settlement: defineRecord(
    'settlement',
    z.strictObject({ machine: persistedMachine, submissionsSinceMs: milliseconds.nullable() }),
  ),
  /** By round. */
  closedRound: defineRecord('closedRound', closedRound),
  /** By index among all that have ended. */
  endedSubmission: defineRecord('endedSubmission', endedSubmission),
  /** By list and number of the record. */
  rememberedIds: defineRecord('rememberedIds', idRun),
} as const;

export type IdList = 'submissions' | 'runs' | 'incidents' | 'messages' | 'signers';

export function* encodeSettlement(installationId: string, settlement: Settlement): Iterable<FoldRecord> {
  const { snapshot, submissionsSinceMs, closedRounds, endedSubmissions, evictedSubmissions } = settlement;
  const { value, context } = snapshot;
  yield settlementRecords.settlement.write(installationId, {
    machine: persistedMachine.parse({ version: machineVersion, value, context }),
    submissionsSinceMs,
  });
  for (const one of closedRounds)
    yield settlementRecords.closedRound.write(`${installationId}/${one.roundId}`, one);
  for (const [index, one] of endedSubmissions.entries())
    yield settlementRecords.endedSubmission.write(`${installationId}/${evictedSubmissions + index}`, one);
  for (const list of ['submissions', 'runs', 'incidents'] as const)
    yield* encodeIdList(`${installationId}/${list}`, settlement.ended[list]);
  yield* encodeIdList(`${installationId}/messages`, settlement.acceptedMessages);
}

/** Records of a list of IDs. `list` is their key without the number. */
export function* encodeIdList(list: `${string}/${IdList}`, ids: RememberedIds): Iterable<FoldRecord> {
  for (const [number, run] of encodeIds(ids).entries())
    yield settlementRecords.rememberedIds.write(`${list}/${number}`, run);
}

interface SettlementParts {
  readonly machine: z.output<typeof persistedMachine>;
  readonly submissionsSinceMs: number | null;
  readonly closedRounds: Iterable<ClosedRound>;
  /** By index among all that have ended. */
  readonly endedSubmissions: ReadonlyMap<number, EndedSubmission>;
  readonly ids: Readonly<Record<Exclude<IdList, 'signers'>, RememberedIds>>;
}

/** @throws RecordRefused if the parts are inconsistent. */
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
  throw new RecordRefused(`the states ${JSON.stringify(value)} of a settlement contradict its context`);
}
