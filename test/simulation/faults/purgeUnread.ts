import type { Fault } from '../plan/plan.ts';
import type { FaultTargets } from './applyFault.ts';

const purgedStreams = ['MINER_COUNTER', 'MINER_PIPELINE'] as const;

/**
 * Publishes messages and removes some of them before any process gets them. They are the first messages of a stream that is created again, or follow
 * messages that were read.
 */
export function purgeUnread(
  { messages, recreates = false }: Fault<'purgeUnread'>,
  { world: { nats }, gateways, publishers, random, onHistoryLost }: FaultTargets,
): void {
  const name = random.pick(purgedStreams);
  const before = nats.store.streams.get(name);
  if (before === undefined) return;
  if (recreates) {
    onHistoryLost();
    nats.store.deleteStream(name);
  }
  const stream = recreates ? nats.store.createStream(before.configuration) : before;
  const read = stream.lastSequence;
  for (let count = 0; count < messages * 2; count++)
    if (name === 'MINER_COUNTER') gateways.publishOne();
    else publishers.publishOne();
  for (let sequence = read + 1; sequence <= Math.min(read + messages, stream.lastSequence); sequence++)
    stream.remove(sequence);
}
