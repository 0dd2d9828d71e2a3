import { formatNanos } from '../nats/storedStream.ts';
import type { Fault } from '../plan/plan.ts';
import type { FaultTargets } from './applyFault.ts';

const retainedStreams = ['MINER_COUNTER', 'MINER_PIPELINE'] as const;
/** Removes messages through a snapshot's position, so that nothing proves any more which message was folded there. */
export function removeFronts(
  { newerSnapshots }: Fault<'removeFronts'>,
  { world, fleet }: FaultTargets,
): void {
  const { nats, clickHouse, time } = world;
  for (const name of retainedStreams) {
    const stream = nats.store.streams.get(name);
    if (stream === undefined) continue;
    const created = formatNanos(stream.createdNanos);
    const saved = clickHouse.select(
      `SELECT position FROM fold_states WHERE stream = {name:String} AND stream_created = {created:String}
       GROUP BY position ORDER BY position DESC`,
      { name, created },
    );
    const [through] = saved[newerSnapshots] ?? [];
    if (through === undefined) continue;
    const folded = fleet.alive.map(({ domain, service }) => {
      const { streams } = time.within(domain, () => service.readiness()).detail as {
        streams: Record<string, { position: number }>;
      };
      return streams[name]?.position ?? 0;
    });
    stream.retireBefore(Math.min(Number(through), ...folded) + 1);
  }
}
