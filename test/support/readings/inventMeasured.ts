import { listKeys } from '../../../actors/schemas/listKeys.ts';
import {
  type CounterReadingMessage,
  type Measurement,
  measurements,
} from '../../../actors/wheel/counterReading.ts';

/**
 * Values for reading number `index` of what a world does not simulate itself: later measured values, which a message may also lack. So a new one is sent
 * everywhere.
 */
export function inventMeasured(
  simulated: Partial<Record<Measurement, number>>,
  index: number,
): Partial<Pick<CounterReadingMessage, Measurement>> {
  const others = listKeys(measurements).filter((name) => !(name in simulated));
  const pairs = others.map((name, place) => {
    const value = (index * 31 + place * 7) % 50_000;
    return [name, [value, value, null, undefined][index % 4]] as const;
  });
  // Every later value may be null or absent.
  return Object.fromEntries(pairs) as Partial<Pick<CounterReadingMessage, Measurement>>;
}
