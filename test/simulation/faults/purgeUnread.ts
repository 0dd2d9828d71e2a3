import type { Fault } from '../plan/plan.ts';
import type { FaultTargets } from './applyFault.ts';

const purgedStreams = ['MINER_COUNTER', 'MINER_PIPELINE'] as const;

/** Removes messages that are published in this turn, before anybody is sent them; some are published that stay. */
export function purgeUnread(
  { messages }: Extract<Fault, { kind: 'purgeUnread' }>,
  { world: { nats }, gateways, publishers, random }: FaultTargets,
): void {
  const name = random.pick(purgedStreams);
  const stream = nats.store.streams.get(name);
  if (stream === undefined) return;
  const read = stream.lastSequence;
  for (let count = 0; count < messages * 2; count++)
    if (name === 'MINER_COUNTER') gateways.publishOne();
    else publishers.publishOne();
  for (let sequence = read + 1; sequence <= Math.min(read + messages, stream.lastSequence); sequence++)
    stream.remove(sequence);
}
