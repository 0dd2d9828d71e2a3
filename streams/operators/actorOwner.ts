import { asyncScheduler, type Observable, type Subscription } from 'rxjs';
import {
  type AnyActor,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyActorScope,
  type EventObject,
  fromEventObservable,
  type ObservableActorLogic,
} from 'xstate';

/** A clock for machines on RxJS's scheduler, so that a test's virtual time controls both. */
const schedulerClock = {
  setTimeout: (fire: () => void, ms: number): Subscription => asyncScheduler.schedule(fire, ms),
  clearTimeout: (scheduled: Subscription | undefined): void => scheduled?.unsubscribe(),
};

/** The parent of the machines inside an Observable, which ends them with their subscription. */
export interface ActorOwner {
  readonly options: { readonly parent: AnyActorRef } | { readonly clock: typeof schedulerClock };
  end(actor: AnyActor): void;
}

/** For subscribers without an actor, such as commands: each machine is a root. It uses RxJS's clock, so a test's virtual time moves it too. */
export const noOwner: ActorOwner = {
  options: { clock: schedulerClock },
  end: (actor) => actor.stop(),
};

/** For logic that an actor runs: its machines are children of the actor, so they are inspected and ended with it. */
function ownAsChildren({ self, stopChild }: AnyActorScope): ActorOwner {
  return { options: { parent: self }, end: stopChild };
}

/** Logic whose machines are children of the actor that runs it. */
export function withOwner<Logic extends AnyActorLogic>(create: (owner: ActorOwner) => Logic): Logic {
  return {
    ...create(noOwner),
    start: (snapshot, scope) => create(ownAsChildren(scope)).start?.(snapshot, scope),
  };
}

/** Like `fromEventObservable`, for an Observable with machines inside. */
export function fromOwningObservable<Event extends EventObject, Input>(
  create: (args: { readonly input: Input; readonly owner: ActorOwner }) => Observable<Event>,
): ObservableActorLogic<Event, Input> {
  return withOwner((owner) => fromEventObservable<Event, Input>(({ input }) => create({ input, owner })));
}
