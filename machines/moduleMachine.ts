import { setup } from 'xstate';

/** States a module reports of itself (CONTRACT.md, Modules). */
export const moduleStates = ['disabled', 'starting', 'ready', 'degraded', 'faulted', 'stopped'] as const;
export type ModuleState = (typeof moduleStates)[number];

/**
 * The reported state of one module instance. The contract does not restrict the moves ("Transitions: not
 * shown"): the device is the authority, so every report moves the machine to the state that it names.
 */
export const moduleMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: `reported.${ModuleState}` },
  },
}).createMachine({
  id: 'module',
  context: {},
  initial: 'unreported',
  on: {
    'reported.disabled': { target: '.disabled' },
    'reported.starting': { target: '.starting' },
    'reported.ready': { target: '.ready' },
    'reported.degraded': { target: '.degraded' },
    'reported.faulted': { target: '.faulted' },
    'reported.stopped': { target: '.stopped' },
  },
  states: {
    unreported: {},
    disabled: {},
    starting: {},
    ready: {},
    degraded: {},
    faulted: {},
    stopped: {},
  },
});
