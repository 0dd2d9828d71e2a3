import { raise, sendTo } from 'xstate';
import { requireValue } from './requireValue.ts';
import { raiseFault } from './serviceServers.ts';
import {
  closeGraceMs,
  type ServiceContext,
  type ServiceSetup,
  saveGraceMs,
  type WorkMachines,
} from './serviceSetup.ts';

type Machines = { readonly machines: WorkMachines };

function requireWork<Work>({ context }: { readonly context: ServiceContext<Work> }): Work {
  return requireValue(context.work, 'the work of the service');
}

/** Indexes the chain until the process stops. A publication in progress is finished first. */
export function createIndexingState<Work extends Machines>(service: ServiceSetup<Work>) {
  return service.createStateConfig({
    initial: 'active',
    states: {
      active: {
        invoke: {
          id: 'indexers',
          src: 'indexers',
          input: ({ context }) => ({ members: requireWork({ context }).machines.indexers }),
          onSnapshot: {
            guard: ({ event }) => event.snapshot.hasTag('faulted'),
            actions: raise(({ event }) => ({ type: 'faulted', error: event.snapshot.context.fault?.error })),
          },
          onDone: 'ended',
          onError: { target: 'ended', actions: raiseFault.actions },
        },
        initial: 'running',
        states: {
          running: { on: { stop: 'stopping', faulted: 'stopping' } },
          stopping: {
            entry: sendTo('indexers', { type: 'stopped', graceMs: closeGraceMs }),
            after: { closeGrace: '#indexingEnded' },
          },
        },
      },
      ended: { id: 'indexingEnded', type: 'final' },
    },
  });
}

/** Follows the streams until the process stops. Messages already taken are then stored and saved. */
export function createFollowingState<Work extends Machines>(service: ServiceSetup<Work>) {
  return service.createStateConfig({
    initial: 'active',
    states: {
      active: {
        invoke: {
          id: 'followers',
          src: 'followers',
          input: ({ context }) => ({ members: requireWork({ context }).machines.followers }),
          onSnapshot: {
            guard: ({ event }) => event.snapshot.hasTag('faulted'),
            actions: raise(({ event }) => ({
              type: 'faulted',
              error: event.snapshot.context.fault?.error,
            })),
          },
          onDone: 'ended',
          onError: { target: 'ended', actions: raiseFault.actions },
        },
        initial: 'running',
        states: {
          running: {
            invoke: {
              src: 'upkeep',
              input: ({ context }) => ({ work: requireWork({ context }) }),
              onError: raiseFault,
            },
            on: { stop: 'draining', faulted: 'draining' },
          },
          draining: { entry: sendTo('followers', { type: 'stopped', graceMs: saveGraceMs }) },
        },
      },
      ended: { type: 'final' },
    },
  });
}
