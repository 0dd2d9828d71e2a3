import { setup } from 'xstate';

export const moduleStates = ['disabled', 'starting', 'ready', 'degraded', 'faulted', 'stopped'] as const;
type ModuleState = (typeof moduleStates)[number];

interface ModuleContext {
  /** When the newest snapshot was observed (epoch milliseconds); null before the first. */
  readonly observedAtMs: number | null;
}

interface ModuleReported {
  readonly type: `reported.${ModuleState}`;
  readonly observedAtMs: number;
}

function isNotOlder({
  context,
  event,
}: {
  readonly context: ModuleContext;
  readonly event: ModuleReported;
}): boolean {
  return context.observedAtMs === null || event.observedAtMs >= context.observedAtMs;
}

const modules = setup({
  types: {} as { context: ModuleContext; events: ModuleReported },
});
const noteObservation = modules.assign({ observedAtMs: ({ event }) => event.observedAtMs });

/**
 * One module instance. The device is the authority, so the contract does not restrict its transitions.
 * `snapshot.can(event)` refuses only snapshots that were observed before the newest one.
 */
export const moduleMachine = modules.createMachine({
  id: 'module',
  context: { observedAtMs: null },
  initial: 'unreported',
  on: {
    'reported.disabled': { guard: isNotOlder, target: '.disabled', actions: noteObservation },
    'reported.starting': { guard: isNotOlder, target: '.starting', actions: noteObservation },
    'reported.ready': { guard: isNotOlder, target: '.ready', actions: noteObservation },
    'reported.degraded': { guard: isNotOlder, target: '.degraded', actions: noteObservation },
    'reported.faulted': { guard: isNotOlder, target: '.faulted', actions: noteObservation },
    'reported.stopped': { guard: isNotOlder, target: '.stopped', actions: noteObservation },
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
