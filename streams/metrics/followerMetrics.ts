import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../actors/clock.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { messageSourceStates } from '../../machines/messageSourceMachine.ts';
import type { StreamFollower } from '../follower/streamFollower.ts';
import { createStreamMetrics } from './streamMetrics.ts';

export function registerFollowerMetrics(
  registry: Registry,
  followers: () => Iterable<[InputStreamName, StreamFollower]>,
  clock: Clock,
): void {
  const secondsSince = (pastMs: number | null, nowMs: number) =>
    pastMs === null ? null : Math.max(0, nowMs - pastMs) / 1000;
  const { counter, gauge, states } = createStreamMetrics(registry, function* () {
    for (const [stream, follower] of followers()) yield [stream, follower.status()];
  });

  gauge('miner_stream_position', 'Sequence of the last folded message.', ({ position }) => position);
  gauge(
    'miner_stream_last_sequence',
    'Last sequence of the stream when it was last read.',
    ({ lastSequence }) => lastSequence,
  );
  gauge(
    'miner_stream_lag_messages',
    'Messages of the stream that are not folded yet.',
    ({ lastSequence, position }) => (lastSequence === null ? null : Math.max(0, lastSequence - position)),
  );
  gauge(
    'miner_stream_verification_age_seconds',
    'Seconds since the stream was last verified to be the followed stream.',
    ({ verifiedAtMs }) => secondsSince(verifiedAtMs, clock.bootMs()),
  );
  gauge(
    'miner_stream_freshness_age_seconds',
    'Age of the folded state: everything that the stream held that long ago is folded. Absent while unknown.',
    ({ freshAsOfMs }) => secondsSince(freshAsOfMs, clock.bootMs()),
  );
  counter(
    'miner_stream_missed_messages_total',
    'Messages that left the stream before they were folded.',
    ({ missedMessages }) => missedMessages,
  );
  counter(
    'miner_stream_interruptions_total',
    'Number of times consumption was interrupted, and restarted with a verification.',
    ({ interruptions }) => interruptions,
  );
  counter(
    'miner_stream_divergences_total',
    'Number of times the stream turned out not to be the folded stream.',
    ({ divergences }) => divergences,
  );
  gauge(
    'miner_snapshot_position',
    'Stream position of the newest saved snapshot.',
    ({ snapshotPosition }) => snapshotPosition,
  );
  gauge(
    'miner_snapshot_age_seconds',
    'Seconds since the newest saved snapshot was taken. A stream without new messages needs no newer one.',
    ({ snapshotTakenAtMs }) => secondsSince(snapshotTakenAtMs, clock.nowMs()),
  );
  gauge(
    'miner_snapshot_size_bytes',
    'Stored bytes of the newest snapshot that this process saved.',
    ({ snapshotBytes }) => snapshotBytes,
  );
  counter(
    'miner_snapshot_failures_total',
    'Failed attempts to save a snapshot.',
    ({ snapshotFailures }) => snapshotFailures,
  );
  states(
    {
      name: 'miner_stream_state',
      help: 'State of the source of a stream: 1 for the current state.',
      states: messageSourceStates,
    },
    ({ state }) => state,
  );
}

/** Shows which version of its fold a process runs, for each stream. */
export function registerFoldVersions(
  registry: Registry,
  identities: Iterable<readonly [InputStreamName, Pick<FoldIdentity, 'foldVersion'>]>,
): void {
  const versions = new Gauge({
    name: 'miner_fold_version',
    help: 'Version of the rules that fold a stream.',
    labelNames: ['stream'],
    registers: [registry],
  });
  for (const [stream, { foldVersion }] of identities) versions.set({ stream }, foldVersion);
}
