import type { Registry } from 'prom-client';
import type { Clock } from '../../actors/clock.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { messageSourceStates } from '../../machines/messageSourceMachine.ts';
import type { StreamFollower } from '../follower/streamFollower.ts';
import { listStates, registerStreamMetrics } from './streamMetrics.ts';

export function registerFollowerMetrics(
  registry: Registry,
  followers: () => Iterable<[InputStreamName, StreamFollower]>,
  clock: Pick<Clock, 'bootMs'>,
): void {
  const secondsSince = (pastMs: number | null) =>
    pastMs === null ? null : Math.max(0, clock.bootMs() - pastMs) / 1000;
  const statuses = () =>
    Array.from(followers(), ([stream, follower]) => [stream, follower.status()] as const);
  registerStreamMetrics(registry, statuses, {
    miner_stream_position: ['Sequence of the last folded message.', ({ position }) => position],
    miner_stream_last_sequence: [
      'Last sequence of the stream when it was last read.',
      ({ lastSequence }) => lastSequence,
    ],
    miner_stream_lag_messages: [
      'Messages of the stream that are not folded yet.',
      ({ lastSequence, position }) => (lastSequence === null ? null : Math.max(0, lastSequence - position)),
    ],
    miner_stream_verification_age_seconds: [
      'Seconds since the stream was last verified to be the followed stream.',
      ({ verifiedAtMs }) => secondsSince(verifiedAtMs),
    ],
    miner_stream_freshness_age_seconds: [
      'Age of the folded state: everything that the stream held that long ago is folded. Absent while unknown.',
      ({ freshAsOfMs }) => secondsSince(freshAsOfMs),
    ],
    miner_stream_missed_messages_total: [
      'Messages that left the stream before they were folded.',
      ({ missedMessages }) => missedMessages,
    ],
    miner_stream_interruptions_total: [
      'Number of times consumption was interrupted, and restarted with a verification.',
      ({ interruptions }) => interruptions,
    ],
    miner_stream_divergences_total: [
      'Number of times the stream turned out not to be the folded stream.',
      ({ divergences }) => divergences,
    ],
    miner_snapshot_position: [
      'Stream position of the newest saved snapshot.',
      ({ snapshotPosition }) => snapshotPosition,
    ],
    miner_snapshot_size_bytes: [
      'Stored bytes of the newest snapshot that this process saved.',
      ({ snapshotBytes }) => snapshotBytes,
    ],
    miner_snapshot_failures: [
      'Failed attempts to save a snapshot since the newest one was saved.',
      ({ snapshotFailures }) => snapshotFailures,
    ],
    miner_stream_state: [
      'State of the source of a stream: 1 for the current state.',
      ({ state }) => listStates(messageSourceStates, state),
      'state',
    ],
  });
}
