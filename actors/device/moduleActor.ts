import { createActor } from 'xstate';
import { type ModuleState, moduleMachine } from '../../machines/moduleMachine.ts';
import { type Rejection, reject } from '../messages/decodeMessage.ts';
import type { ModuleReport } from './moduleSnapshot.ts';
import type { ModuleView } from './moduleViews.ts';

/** The actor of one module instance. */
export interface ModuleActor {
  /** Null when the snapshot is taken. */
  receive(state: ModuleState, report: ModuleReport): Rejection | null;
  /** The same object until a snapshot is taken. */
  view(): ModuleView;
}

/** Starts with the first snapshot of the instance, or with the one that was restored. */
export function createModuleActor({ state: initialState, ...initialReport }: ModuleView): ModuleActor {
  const { observedAtMs } = initialReport;
  const snapshot = moduleMachine.resolveState({ value: initialState, context: { observedAtMs } });
  const actor = createActor(moduleMachine, { snapshot }).start();
  let view: ModuleView = { ...initialReport, state: initialState };

  function receive(state: ModuleState, report: ModuleReport): Rejection | null {
    const event = { type: `reported.${state}`, observedAtMs: report.observedAtMs } as const;
    if (!actor.getSnapshot().can(event)) {
      const behindMs = view.observedAtMs - report.observedAtMs;
      const detail = `observed ${behindMs} ms before the newest snapshot of this instance`;
      return reject('out_of_order', detail).rejection;
    }
    actor.send(event);
    const { value } = actor.getSnapshot();
    if (value === 'unreported')
      throw new Error(`module ${report.instanceId} has reported and says otherwise`);
    view = { ...report, state: value };
    return null;
  }

  return { receive, view: () => view };
}
