import type { Registry } from 'prom-client';
import type { PlaceCounts } from '../../actors/folds/places.ts';
import { registerStreamMetrics } from './streamMetrics.ts';

const streams = ['MINER_COUNTER', 'MINER_PIPELINE'] as const;

/** Registers metrics of the places of installations. */
export function registerPlaceMetrics(
  registry: Registry,
  folds: Readonly<Record<(typeof streams)[number], { places(): PlaceCounts }>>,
): void {
  registerStreamMetrics(registry, () => streams.map((stream) => [stream, folds[stream].places()]), {
    miner_installations: ['Installations with a place, not counting the public one.', ({ taken }) => taken],
    miner_installations_max: [
      'Places for installations, not counting the public one (`MINER_INSTALLATIONS_MAX`).',
      ({ max }) => max,
    ],
    miner_installations_forgotten_total: [
      'Installations that gave their places up to new ones.',
      ({ forgotten }) => forgotten,
    ],
  });
}
