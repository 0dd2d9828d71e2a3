import {
  type CounterReading,
  isLater,
  type Measurement,
  mapMeasurements,
} from '../../../actors/wheel/counterReading.ts';

/** A valid accepted reading for folds and rows; a test passes only the members that matter to it. */
export function acceptedReading(overrides: Partial<CounterReading> = {}): CounterReading {
  const position = overrides.position ?? 1;
  const observedAtMs = overrides.observedAtMs ?? Date.UTC(2026, 0, 31, 12);
  return {
    position,
    telemetryId: `aaaaaaaa-0000-4000-8000-${String(position).padStart(12, '0')}`,
    installationId: 'wheel-1',
    bootId: 'bbbbbbbb-0000-4000-8000-000000000001',
    sequence: position,
    observedAtMs,
    receivedAtMs: observedAtMs,
    counterEpoch: 'eeeeeeee-0000-4000-8000-000000000001',
    cumulativeWorkUnits: 0n,
    provenance: 'simulated',
    softwareVersion: '1.0.0',
    coreStatus: 'ACTIVE',
    ...mapMeasurements<Pick<CounterReading, Measurement>>((_, schema) => (isLater(schema) ? null : 0)),
    ...overrides,
  };
}
