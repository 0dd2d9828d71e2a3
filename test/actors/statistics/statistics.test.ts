import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counterSubject } from '../../../actors/messages/subjects.ts';
import { computeStatistics, statisticsRanges } from '../../../actors/statistics/statistics.ts';
import { createCounterActors } from '../../../actors/wheel/counterActors.ts';
import type { CounterReadingMessage } from '../../../actors/wheel/counterReading.ts';
import type { DayHistory } from '../../../actors/wheel/dayHistory.ts';
import { plainStatisticsResponse, toStatisticsBody } from '../../../http/responses/statistics/statistics.ts';
import { opaque } from '../../reference/messages.ts';
import { acceptReadings } from '../../reference/readings.ts';
import { buildStatistics } from '../../reference/statistics.ts';
import { runs } from '../../support/propertyRuns.ts';
import { deriveUuid } from '../../support/readings/readingMessages.ts';
import { restoreState } from '../../support/restoreState.ts';

const id = 'wheel.one';

/** One stretch of readings: how they follow each other, and how much is done in each. */
interface Stretch {
  readonly count: number;
  readonly stepSeconds: number;
  readonly workUnits: number;
  readonly gapMinutes: number;
  readonly isReboot: boolean;
  readonly isNewEpoch: boolean;
}

function buildHistory(startMs: number, stretches: readonly Stretch[]): CounterReadingMessage[] {
  const readings: CounterReadingMessage[] = [];
  let [atMs, counter, boot, epoch, sequence] = [startMs, 0n, 0, 0, 0];
  for (const stretch of stretches) {
    atMs += stretch.gapMinutes * 60_000;
    if (stretch.isReboot) [boot, sequence] = [boot + 1, 0];
    if (stretch.isNewEpoch) [epoch, counter] = [epoch + 1, 0n];
    for (let index = 0; index < stretch.count; index++) {
      atMs += stretch.stepSeconds * 1_000;
      counter += BigInt(stretch.workUnits);
      const daySeconds = Math.floor(((atMs - 43_200_000) % 86_400_000) / 1_000);
      readings.push({
        telemetryId: deriveUuid(`${boot} ${sequence}`),
        installationId: id,
        bootId: deriveUuid(`boot ${boot}`),
        sequence: sequence++,
        observedAt: new Date(atMs).toISOString(),
        receivedAt: new Date(atMs).toISOString(),
        counterEpoch: deriveUuid(`epoch ${epoch}`),
        cumulativeWorkUnits: counter.toString(),
        provenance: 'simulated',
        softwareVersion: null,
        coreStatus: 'ACTIVE',
        rpmMilli: (stretch.workUnits * 37 + index) % 5_000,
        speedMmPerSecond: (stretch.workUnits * 11) % 900,
        distanceMm: daySeconds * (1 + (stretch.workUnits % 3)),
      });
    }
  }
  return readings;
}

const stretch = fc.record({
  count: fc.integer({ min: 1, max: 260 }),
  stepSeconds: fc.constantFrom(10, 60, 119, 120, 121, 600),
  workUnits: fc.constantFrom(0, 0, 1, 7, 420),
  gapMinutes: fc.constantFrom(0, 0, 1, 3, 45, 700, 2_900),
  isReboot: fc.boolean(),
  isNewEpoch: fc.constantFrom(false, false, false, true),
});

const half = 1_800_000;
const dayMs = 86_400_000;
const moment = fc.record({
  // Around noon, midnight, a month's end and a leap day.
  startMs: fc.constantFrom(
    Date.UTC(2026, 0, 31, 12),
    Date.UTC(2026, 0, 31, 11, 59, 50),
    Date.UTC(2028, 1, 28, 23, 55),
    Date.UTC(2026, 11, 31, 3, 7, 11),
  ),
  genesisBefore: fc.constantFrom(0, 1, 3, 48),
});

describe('statistics', () => {
  it('equal it at the borders of rounds, buckets and days if the device’s clock is up to 300 seconds ahead', () => {
    const ahead = fc.record({
      // Of rounds, buckets and universal days.
      periodMs: fc.constantFrom(600_000, half, dayMs),
      // How far the newest reading lies beyond a border, and the service's clock before or beyond it.
      readingSeconds: fc.constantFrom(0, 1, 10, 119, 120, 290, 300),
      clockMs: fc.constantFrom(-300_000, -120_000, -1_000, -1, 0, 1, 999, 10_000, 299_999),
    });
    let early = 0;
    fc.assert(
      fc.property(
        fc.array(stretch, { maxLength: 4 }),
        moment,
        ahead,
        fc.constantFrom(0, 3, 420),
        (stretches, { startMs, genesisBefore }, { periodMs, readingSeconds, clockMs }, workUnits) => {
          const genesisMs = Math.floor(startMs / half) * half - genesisBefore * half;
          const noonMs = dayMs / 2;
          const findEndMs = (readings: readonly CounterReadingMessage[]) =>
            Date.parse(readings.at(-1)?.observedAt ?? new Date(startMs).toISOString());
          const before = findEndMs(buildHistory(startMs, stretches));
          const borderMs = (Math.floor((before - noonMs) / periodMs) + 1) * periodMs + noonMs;
          const like = { workUnits, gapMinutes: 0, isReboot: false, isNewEpoch: false };
          const secondsLeft = Math.floor((borderMs - before) / 1_000) + readingSeconds;
          const minutes = Math.floor(secondsLeft / 60);
          const messages = buildHistory(startMs, [
            ...stretches,
            { ...like, count: minutes, stepSeconds: 60 },
            { ...like, count: 1, stepSeconds: secondsLeft % 60 },
          ]);
          const lastMs = findEndMs(messages);
          const nowMs = Math.max(borderMs + clockMs, lastMs - 300_000);
          if (nowMs < borderMs && lastMs >= borderMs) early++;
          expectPlain(messages, genesisMs, nowMs);
        },
      ),
      { numRuns: runs(20) },
    );
    // The clock was ahead across a border.
    expect(early).toBeGreaterThan(0);
  });

  it('equal it, and fit their response, at any difference of the device’s clock and the service’s', () => {
    const clockMs = fc.oneof(
      fc.integer({ min: -40 * dayMs, max: 40 * dayMs }),
      fc.constantFrom(-dayMs, -half, -1, 0, half, dayMs),
    );
    fc.assert(
      fc.property(
        fc.array(stretch, { maxLength: 6 }),
        moment,
        clockMs,
        (stretches, { startMs, genesisBefore }, offMs) => {
          const genesisMs = Math.floor(startMs / half) * half - genesisBefore * half;
          expectPlain(buildHistory(startMs, stretches), genesisMs, startMs + offMs);
        },
      ),
      {
        numRuns: runs(30),
        // Whole days of work and of rest.
        examples: [
          [
            [7, 0, 7, 9, 0, 9].map((workUnits) => ({
              ...{ count: 720, stepSeconds: 120, workUnits },
              ...{ gapMinutes: 0, isReboot: false, isNewEpoch: false },
            })),
            { startMs: Date.UTC(2026, 0, 31, 11, 59, 50), genesisBefore: 0 },
            7 * dayMs,
          ],
        ],
      },
    );
  });
});

const toStored = (messages: readonly CounterReadingMessage[]) =>
  messages.map((message, index) => ({
    seq: index + 1,
    subject: counterSubject(id),
    data: Buffer.from(JSON.stringify(message)),
    storedAtMs: 0,
  }));

function foldReadings(messages: readonly CounterReadingMessage[], genesisMs: number) {
  const actors = createCounterActors({ genesisMs, publicInstallationId: id });
  for (const message of toStored(messages))
    expect(actors.receive({ ...message, timestampNanos: 0n })).toHaveProperty('output.reading');
  return actors;
}

/** Folds the readings, and compares the statistics of a moment with the reference, before and after a restart. */
function expectPlain(messages: readonly CounterReadingMessage[], genesisMs: number, nowMs: number) {
  const actors = foldReadings(messages, genesisMs);
  const restored = createCounterActors({ genesisMs, publicInstallationId: id });
  restoreState(restored, actors.capture().all());
  const nothingSettled = { settled: null, submissions: [] };
  const input = {
    installationId: id,
    readings: acceptReadings(toStored(messages)),
    genesisMs,
    ...nothingSettled,
  };
  for (const range of statisticsRanges) {
    const compute = (history: DayHistory | null) =>
      computeStatistics(range, { history, genesisMs, generatedAtMs: nowMs });
    const statistics = compute(actors.history());
    const view = { installationId: id, revision: opaque, statistics, settled: null, oracle: null };
    const body = toStatisticsBody(1, view);
    assert.deepEqual(body, buildStatistics(input, range, nowMs));
    expect(plainStatisticsResponse.safeParse(body).error).toBeUndefined();
    expect(compute(restored.history())).toEqual(statistics);
  }
}
