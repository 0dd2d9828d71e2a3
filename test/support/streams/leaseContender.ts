import { createActor, waitFor } from 'xstate';
import { systemClock } from '../../../deploy/process/systemClock.ts';
import type { LeaseHolder } from '../../../machines/leaseMachine.ts';
import { createLease, findStandbyHolder, isLeaseHeld } from '../../../streams/ingest/ingestLease.ts';
import { whenFinished } from '../processes/lifetime.ts';
import type { TestConnection } from '../processes/natsServer.ts';
import { silentLogger } from '../silentLogger.ts';
import { createStreams } from './startStreams.ts';

/** Acts as a process that wants to ingest. */
export function startContender({ jetStream }: Pick<TestConnection, 'jetStream'>, name = 'one') {
  const lease = createActor(
    createLease({
      jetStream: () => jetStream,
      clock: systemClock,
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
  lease.start();
  whenFinished(release);
  const acquired = waitFor(lease, (snapshot) => snapshot.hasTag('held')).then(() => ({
    /** Whether no other process can hold the lease now. */
    isHeld: () => isLeaseHeld(lease.getSnapshot(), systemClock),
    /** Another process that waits takes over at once. */
    release,
  }));
  acquired.catch(() => undefined); // The test may end first.
  return { acquired, seen };
}
