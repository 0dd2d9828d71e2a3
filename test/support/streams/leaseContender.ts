import { createActor, waitFor } from 'xstate';
import type { Clock } from '../../../actors/clock.ts';
import { systemClock } from '../../../deploy/process/systemClock.ts';
import type { LeaseHolder } from '../../../machines/leaseMachine.ts';
import { createLease, findStandbyHolder, isLeaseHeld } from '../../../streams/ingest/ingestLease.ts';
import { whenFinished } from '../processes/lifetime.ts';
import type { TestConnection } from '../processes/natsServer.ts';
import { silentLogger } from '../silentLogger.ts';
import { createStreams } from './startStreams.ts';

/** Acts as a process that wants to ingest. */
export function startContender(
  { jetStream }: Pick<TestConnection, 'jetStream'>,
  name = 'one',
  clock: Clock = systemClock,
) {
  const lease = createActor(
    createLease({
      jetStream: () => jetStream,
      clock,
      logger: silentLogger,
      onMissing: () => createStreams(jetStream),
    }),
    { input: { name, isUnused: true } },
  );
  /** The holders it waited for, in order, then null once it no longer waited. */
  const seen: (LeaseHolder | null)[] = [];
  lease.subscribe((snapshot) => {
    if (snapshot.hasTag('standby')) seen.push(findStandbyHolder(snapshot));
    else if (snapshot.hasTag('held') && seen.at(-1) !== null) seen.push(null);
  });
  const release = async () => {
    lease.send({ type: 'release' });
    await waitFor(lease, ({ status }) => status !== 'active');
  };
  const lost = new Promise<never>((_, reject) => {
    lease.subscribe({ complete: () => reject(lease.getSnapshot().context.fault) });
  });
  lost.catch(() => undefined); // Few tests await it.
  lease.start();
  whenFinished(release);
  const acquired = waitFor(lease, (snapshot) => snapshot.hasTag('held')).then(() => ({
    /** Whether no other process can hold the lease now. */
    isHeld: () => isLeaseHeld(lease.getSnapshot(), clock),
    /** Rejects when another process has taken over. */
    lost,
    /** Another process that waits takes over at once. */
    release,
  }));
  acquired.catch(() => undefined); // The test may end first.
  return { acquired, seen };
}
