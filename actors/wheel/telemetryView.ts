import type { CounterReading } from './counterReading.ts';

/** A measurement is stale when its receipt is more than this old; exactly this old is online. */
export const stalenessSeconds = 120;

/** Measurement freshness depends on the age of the receipt, not on the device's connection. */
export const freshnessStates = ['offline', 'online', 'stale'] as const;
export type Freshness = (typeof freshnessStates)[number];

/** @param receiptAgeMs age of the newest measurement's receipt; null without a measurement. */
export function findFreshness(receiptAgeMs: number | null): Freshness {
  if (receiptAgeMs === null) return 'offline';
  return receiptAgeMs > stalenessSeconds * 1000 ? 'stale' : 'online';
}

/** Telemetry of one installation; `reading` is null exactly when freshness is offline. */
export interface TelemetryView {
  readonly installationId: string;
  readonly freshness: Freshness;
  /** Opaque receipt revision; null without an accepted reading. */
  readonly revision: string | null;
  readonly reading: CounterReading | null;
}
