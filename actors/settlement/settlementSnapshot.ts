import type { AnyStateNode, StateValue } from 'xstate';
import { z } from 'zod';
import { settlementContext } from '../../machines/settlementEvents.ts';
import { type SettlementSnapshot, settlementMachine } from '../../machines/settlementMachine.ts';
import { RecordRefused } from '../folds/foldRecord.ts';

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

export const persistedMachine = z.strictObject({
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

/** @throws ZodError for a machine that no snapshot can hold. */
export function persistMachine({ value, context }: SettlementSnapshot): z.output<typeof persistedMachine> {
  return persistedMachine.parse({ version: machineVersion, value, context });
}

/** @throws RecordRefused if the states contradict the context. */
export function resolveMachine({ value, context }: z.output<typeof persistedMachine>): SettlementSnapshot {
  const snapshot = settlementMachine.resolveState({ value, context });
  if (isConsistent(snapshot)) return snapshot;
  throw new RecordRefused(`the states ${JSON.stringify(value)} of a settlement contradict its context`);
}
