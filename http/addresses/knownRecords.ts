import type { ActorViews } from '../../actors/views/actorViews.ts';
import { findDay } from './days.ts';
import type { Known } from './search.ts';

/**
 * The records that exist now.
 *
 * @param views null until state is restored.
 */
export function readKnown(views: ActorViews | null, nowMs: number): Known {
  const core = views?.chain.core();
  const configuration = core?.status === 'available' ? core.core.configuration : null;
  const genesisMs = configuration === null ? null : Number(configuration.genesisTimestamp) * 1000;
  const statistics = views?.statistics?.plainView('30d').statistics;
  // The statistics show days before the first round and the first reading, too.
  const starts = [statistics?.windowStartMs, statistics?.lifetime.firstObservedAtMs, genesisMs];
  const startsMs = starts.flatMap((startMs) => startMs ?? []);
  return {
    nowMs,
    genesisMs,
    firstDay: statistics === undefined ? null : findDay(Math.min(...startsMs)),
    mayBeMiner: (id) => {
      const miner = views?.chain.miner(Number(id));
      return miner?.status !== 'available' || miner.isCreated;
    },
  };
}
