import { streamNames } from '../../actors/messages/subjects.ts';
import { systemClock } from '../../deploy/systemClock.ts';
import { ensureStreams } from '../../streams/jetstream/ensureStreams.ts';
import { acquireLease, type LeaseHolder } from '../../streams/jetstream/ingestLease.ts';
import { whenFinished } from './lifetime.ts';
import type { TestConnection } from './natsServer.ts';
import { silentLogger } from './silentLogger.ts';

/** What a process does that wants to ingest. */
export function contender({ js, jsm }: TestConnection, name = 'one') {
  const stopping = new AbortController();
  whenFinished(() => stopping.abort());
  const seen: (LeaseHolder | null)[] = [];
  const acquired = acquireLease({
    js,
    jsm,
    name,
    clock: systemClock,
    logger: silentLogger,
    signal: stopping.signal,
    isUnused: true,
    onMissing: () => ensureStreams(jsm, streamNames, { retentionDays: 0 }, silentLogger),
    onStandby: (holder) => seen.push(holder),
  });
  acquired.then(
    (lease) => whenFinished(() => lease.release()),
    () => undefined,
  );
  return { acquired, seen };
}
