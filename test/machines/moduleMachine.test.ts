import { expect, it } from 'vitest';
import { createActor } from 'xstate';
import { moduleMachine, moduleStates } from '../../machines/moduleMachine.ts';

it.each(moduleStates)('a module is %s after a report, unless a newer one was heard', (state) => {
  const module = createActor(moduleMachine).start();
  module.send({ type: `reported.${state}`, observedAtMs: 2 });
  expect(module.getSnapshot().value).toBe(state);
  expect(module.getSnapshot().can({ type: `reported.${state}`, observedAtMs: 1 })).toBe(false);
});
