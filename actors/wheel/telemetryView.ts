import type { CounterReading } from './counterReading.ts';
import type { Freshness } from './freshness.ts';

/** Telemetry of one installation; `reading` is null exactly when freshness is offline. */
export interface TelemetryView {
  readonly installationId: string;
  readonly freshness: Freshness;
  /** Opaque receipt revision; null without an accepted reading. */
  readonly revision: string | null;
  readonly reading: CounterReading | null;
}
