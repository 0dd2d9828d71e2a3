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
    const saved = [...clickHouse.tables.values()]
      .filter((table) => table.name === 'fold_states')
      .flatMap(({ rows, indexOf }) =>
        rows
          .filter(({ values }) => values[indexOf('stream')] === name)
          .filter(({ values }) => values[indexOf('stream_created')] === created)
          .map(({ values }) => Number(values[indexOf('position')])),
      );
    const through = [...new Set(saved)].sort((one, other) => other - one)[newerSnapshots];
    if (through === undefined) continue;
    const folded = fleet.alive.map(({ domain, service }) => {
      const { streams } = time.within(domain, () => service.readiness()).detail as {
        streams: Record<string, { position: number }>;
      };
      return streams[name]?.position ?? 0;
    });
    stream.retireBefore(Math.min(through, ...folded) + 1);
  }
}
