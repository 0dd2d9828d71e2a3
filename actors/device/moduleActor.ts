import { createActor } from 'xstate';
import { moduleMachine } from '../../machines/moduleMachine.ts';
import { type Rejection, reject } from '../messages/decodeMessage.ts';
import { describeTime } from '../schemas/durations.ts';
import type { ModuleView } from './moduleSnapshot.ts';

export type ModuleActor = ReturnType<typeof createModuleActor>;

/** The actor of one module's instance. It starts with the first or the restored snapshot. */
export function createModuleActor(first: ModuleView) {
  const context = { observedAtMs: first.observedAtMs };
  const snapshot = moduleMachine.resolveState({ value: first.state, context });
  const actor = createActor(moduleMachine, { snapshot }).start();
  let view = first;
  let bytes = measureModule(first);

  function receive(reported: ModuleView): Rejection | null {
    const event = { type: `reported.${reported.state}`, observedAtMs: reported.observedAtMs } as const;
    if (!actor.getSnapshot().can(event)) {
      const newest = describeTime(view.observedAtMs);
      const given = describeTime(reported.observedAtMs);
      const detail = `observedAt: expected ${newest} or later, the time of the newest snapshot of this instance, given ${given}`;
      return reject('out_of_order', detail).rejection;
    }
    actor.send(event);
    view = reported;
    bytes = measureModule(reported);
    return null;
  }

  return { receive, view: () => view, bytes: () => bytes };
}

/** Bytes of a snapshot as JSON, about as many as in the body of a route. */
export function measureModule(view: ModuleView): number {
  return Buffer.byteLength(JSON.stringify(view));
}
