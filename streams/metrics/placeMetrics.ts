import type { Registry } from 'prom-client';
import type { PlaceCounts } from '../../actors/folds/places.ts';
import { createStreamMetrics } from './streamMetrics.ts';

/** Registers metrics of the places of installations, read at each request of `/metrics`. */
export function registerPlaceMetrics(
  registry: Registry,
  folds: Readonly<Record<'MINER_COUNTER' | 'MINER_PIPELINE', { places(): PlaceCounts }>>,
): void {
  const { counter, gauge } = createStreamMetrics(registry, () => [
    ['MINER_COUNTER', folds.MINER_COUNTER.places()],
    ['MINER_PIPELINE', folds.MINER_PIPELINE.places()],
  ]);
  gauge(
    'miner_installations',
    'Installations with a place, not counting the public one.',
    ({ taken }) => taken,
  );
  gauge(
    'miner_installations_max',
    'Places for installations, not counting the public one (`MINER_INSTALLATIONS_MAX`).',
    ({ max }) => max,
  );
  counter(
    'miner_installations_forgotten_total',
    'Installations that gave their places up to new ones.',
    ({ forgotten }) => forgotten,
  );
}
