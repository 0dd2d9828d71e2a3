import type {
  AnyActorRef,
  DoneActorEvent,
  EventFromLogic,
  OutputFrom,
  SnapshotEvent,
  SnapshotFrom,
} from 'xstate';
import { passError } from './failures.ts';
import type { serverMachine } from './serverMachine.ts';

/** In any state, a failed child is a fault of the program. */
export const raiseFault = { actions: { type: 'raiseFault', params: passError } } as const;

type ServerEnd = DoneActorEvent<OutputFrom<typeof serverMachine>>;
const isListening = ({ event }: { event: SnapshotEvent<SnapshotFrom<typeof serverMachine>> }) =>
  event.snapshot.hasTag('listening');
const hasFailed = ({ event }: { event: ServerEnd }) => event.output.fault !== null;
const reportPort = {
  onSnapshot: { guard: isListening, actions: 'raisePortBound' },
  onDone: {
    guard: hasFailed,
    actions: {
      type: 'raiseFault',
      params: ({ event }: { event: ServerEnd }) => ({ error: event.output.fault?.error }),
    },
  },
  onError: raiseFault,
} as const;
export const operatorServer = {
  id: 'operatorServer',
  src: 'operatorServer',
  input: { label: 'operator' },
  ...reportPort,
} as const;
export const publicServer = {
  id: 'publicServer',
  src: 'publicServer',
  input: { label: 'public' },
  ...reportPort,
} as const;

/** Sends an event to the public server, if the process has one that is still open. */
export function notifyPublicServer(
  service: { getSnapshot(): { readonly children: Readonly<Record<string, AnyActorRef | undefined>> } },
  event: EventFromLogic<typeof serverMachine>,
): void {
  const server = service.getSnapshot().children[publicServer.id];
  if (server?.getSnapshot().status === 'active') server.send(event);
}
