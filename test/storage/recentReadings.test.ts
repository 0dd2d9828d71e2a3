import { expect, it } from 'vitest';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const installations = ['wheel-1', 'wheel-2', 'wheel-3'] as const;
const readings = Array.from({ length: 400 }, (_, at) =>
  acceptedReading({ position: 2 * at + 1, installationId: installations[at % 3] ?? '' }),
);

it('never leave memory before they are stored', () => {
  let storedThrough = 0;
  const recent = createRecentReadings({ storedThrough: () => storedThrough, retained: 10 });
  for (let position = 1; position <= 50; position++) recent.add(acceptedReading({ position }));
  expect(recent.size).toBe(50);
  storedThrough = 30;
  recent.add(acceptedReading({ position: 51 }));
  expect(recent.floor()).toEqual({ position: 30, evicted: acceptedReading({ position: 30 }) });
  expect(recent.size).toBe(21);
});

it('are the newest of all installations, and are found by installation and position', () => {
  const recent = createRecentReadings({ storedThrough: () => 10_000, retained: 100 });
  for (const [at, reading] of readings.entries()) {
    recent.add(reading);
    if (at % 7 > 0) continue;
    const retained = readings.slice(Math.max(0, at - 99), at + 1);
    expect(recent.size).toBe(retained.length);
    for (const installationId of installations) {
      const ofIt = retained.filter((one) => one.installationId === installationId);
      expect(recent.page(installationId, 0, 1_000)).toEqual(ofIt);
    }
    const { position } = reading;
    const after = retained.filter((one) => one.installationId === 'wheel-2' && one.position > position - 60);
    expect(recent.page('wheel-2', position - 60, 3)).toEqual(after.slice(0, 3));
  }
  expect(recent.page('wheel-4', 0, 10)).toEqual([]);
});

it('are forgotten when readings skip memory or the stream begins anew', () => {
  const recent = createRecentReadings({ storedThrough: () => 10_000, retained: 2 });
  expect(recent.floor()).toEqual({ position: 0, evicted: null });
  for (const reading of readings.slice(0, 3)) recent.add(reading);
  recent.skipTo(40);
  expect([recent.floor(), recent.size]).toEqual([{ position: 40, evicted: readings[2] }, 0]);
  recent.skipTo(50);
  expect(recent.floor()).toEqual({ position: 50, evicted: readings[2] });
  recent.add(acceptedReading({ position: 60 }));
  recent.reset(7);
  expect([recent.floor(), recent.size]).toEqual([{ position: 7, evicted: null }, 0]);
  expect(recent.page('wheel-1', 0, 10)).toEqual([]);
});
