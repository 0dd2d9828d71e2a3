import type { Fault } from '../plan/plan.ts';
import type { FaultTargets } from './applyFault.ts';

const purgedStreams = ['MINER_COUNTER', 'MINER_PIPELINE'] as const;

/** Removes messages that are published in this turn, before anybody is sent them; some are published that stay. */
export function purgeUnread(
  { messages, recreates }: Extract<Fault, { kind: 'purgeUnread' }>,
  { world: { nats }, gateways, publishers, random }: FaultTargets,
): void {
  const name = random.pick(purgedStreams);
  const before = nats.store.streams.get(name);
  if (before === undefined) return;
  if (recreates) nats.store.deleteStream(name);
  const stream = recreates ? nats.store.createStream(before.configuration) : before;
  const read = stream.lastSequence;
  for (let count = 0; count < messages * 2; count++)
    if (name === 'MINER_COUNTER') gateways.publishOne();
    else publishers.publishOne();
  if (recreates) stream.removeBefore(read + messages + 1);
  else for (let sequence = read + 1; sequence <= read + messages; sequence++) stream.remove(sequence);
}
