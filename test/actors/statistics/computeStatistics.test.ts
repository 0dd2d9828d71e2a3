import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counterSubject } from '../../../actors/messages/subjects.ts';
import { computeStatistics, statisticsRanges } from '../../../actors/statistics/statistics.ts';
import { createCounterActors } from '../../../actors/wheel/counterActors.ts';
import type { CounterReadingMessage } from '../../../actors/wheel/counterReading.ts';
import type { DayHistory } from '../../../actors/wheel/dayHistory.ts';
import {
  plainStatisticsResponse,
  publicStatisticsResponse,
  toStatisticsBody,
} from '../../../http/responses/statistics/statistics.ts';
import { acceptReadings } from '../../reference/acceptedReadings.ts';
import { measureStatistics } from '../../reference/activityStatistics.ts';
import { storedLateMs, storedLateNanos } from '../../support/genesis.ts';
import { runs } from '../../support/propertyRuns.ts';
import { deriveUuid, readingMessage } from '../../support/readings/readingMessages.ts';
import { listDifferences } from '../../support/reference/listDifferences.ts';
import { restoreState } from '../../support/restoreState.ts';

const id = 'wheel.one';

/** One stretch of readings: how they follow each other, and how much is done in each. */
interface Stretch {
  readonly count: number;
  readonly stepSeconds: number;
  readonly workUnits: number | bigint;
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
      const pace = Number(BigInt(stretch.workUnits) % 1_000n);
      const observedAt = new Date(atMs).toISOString();
      readings.push(
        readingMessage(id, sequence, {
          ...{ observedAt, receivedAt: observedAt },
          telemetryId: deriveUuid(`${boot} ${sequence++}`),
          bootId: deriveUuid(`boot ${boot}`),
          counterEpoch: deriveUuid(`epoch ${epoch}`),
          cumulativeWorkUnits: counter.toString(),
          rpmMilli: (pace * 37 + index) % 5_000,
          speedMmPerSecond: (pace * 11) % 900,
          distanceMm: daySeconds * (1 + (pace % 3)),
        }),
      );
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
const moment = fc
  .record({
    // Around noon, midnight, a month's end and a leap day.
    startMs: fc.constantFrom(
      Date.UTC(2026, 0, 31, 12),
      Date.UTC(2026, 0, 31, 11, 59, 50),
      Date.UTC(2028, 1, 28, 23, 55),
      Date.UTC(2026, 11, 31, 3, 7, 11),
    ),
    halvesBefore: fc.constantFrom(0, 1, 3, 48),
  })
  .map(({ startMs, halvesBefore }) => ({
    startMs,
    genesisMs: (Math.floor(startMs / half) - halvesBefore) * half,
  }));

const like = { workUnits: 0, gapMinutes: 0, isReboot: false, isNewEpoch: false };
const findEndMs = (readings: readonly CounterReadingMessage[], startMs: number) =>
  Date.parse(readings.at(-1)?.observedAt ?? new Date(startMs).toISOString());

describe('statistics', () => {
  it('equal the reference at borders while the device’s clock is ahead', () => {
    const border = fc.record({
      // Of rounds, buckets and universal days.
      periodMs: fc.constantFrom(600_000, half, dayMs),
      // How far the newest reading lies beyond a border, and the service's clock before or beyond it.
      readingSeconds: fc.constantFrom(0, 1, 10, 119, 120, 290, 300),
      clockMs: fc.constantFrom(-300_000, -120_000, -1_000, -1, 0, 1, 999, 10_000, 299_999),
      workUnits: fc.constantFrom(0, 3, 420),
    });
    // The first round of a half hour ends now.
    const noon = { startMs: Date.UTC(2026, 0, 31, 12), genesisMs: Date.UTC(2026, 0, 31, 12) };
    const endOfRound = { periodMs: 600_000, readingSeconds: 0, clockMs: 0, workUnits: 3 } as const;
    let early = 0;
    fc.assert(
      fc.property(
        fc.array(stretch, { maxLength: 4 }),
        moment,
        border,
        (stretches, { startMs, genesisMs }, { periodMs, readingSeconds, clockMs, workUnits }) => {
          const before = findEndMs(buildHistory(startMs, stretches), startMs);
          const borderMs = (Math.floor((before - dayMs / 2) / periodMs) + 1) * periodMs + dayMs / 2;
          const secondsLeft = Math.floor((borderMs - before) / 1_000) + readingSeconds;
          const messages = buildHistory(startMs, [
            ...stretches,
            { ...like, workUnits, count: Math.floor(secondsLeft / 60), stepSeconds: 60 },
            { ...like, workUnits, count: 1, stepSeconds: secondsLeft % 60 },
          ]);
          const lastMs = findEndMs(messages, startMs);
          const nowMs = Math.max(borderMs + clockMs, lastMs - 300_000);
          if (nowMs < borderMs && lastMs >= borderMs) early++;
          expectPlain(messages, genesisMs, nowMs);
        },
      ),
      { numRuns: runs(20), examples: [[[], noon, endOfRound]] },
    );
    // The clock was ahead across a border.
    expect(early).toBeGreaterThan(0);
  });

  it('equal the reference at any difference of the clocks', () => {
    const offMs = fc.oneof(
      fc.integer({ min: -40 * dayMs, max: 40 * dayMs }),
      fc.constantFrom(-dayMs, -half, -1, 0, half, dayMs),
    );
    // Whole days of work and of rest: a complete week, in which the longest streak and run of rounds come twice.
    const days = [5, 7, 9, 0, 7, 9, 0, 7].map((workUnits) => ({
      ...like,
      count: 720,
      stepSeconds: 120,
      workUnits,
    }));
    const noon = { startMs: Date.UTC(2026, 0, 31, 11, 59, 50), genesisMs: Date.UTC(2026, 0, 31, 11, 30) };
    // Ten observed rounds with more and more work: the ninth is the 90th percentile.
    const atGenesis = { ...noon, startMs: noon.genesisMs };
    const rising = Array.from({ length: 11 }, (_, workUnits) => ({
      ...like,
      workUnits,
      count: 10,
      stepSeconds: 60,
    }));
    // Two hours of rounds, each with as much work as a counter can hold: no 256 bits hold their sums. Epochs follow one another at one instant.
    const full = Array.from({ length: 12 }, () => [
      { ...like, isNewEpoch: true, count: 1, stepSeconds: 0 },
      { ...like, workUnits: 2n ** 256n - 1n, count: 1, stepSeconds: 60 },
      { ...like, count: 9, stepSeconds: 60 },
    ]).flat();
    fc.assert(
      fc.property(
        fc.array(stretch, { maxLength: 6 }),
        moment,
        offMs,
        (stretches, { startMs, genesisMs }, off) =>
          expectPlain(buildHistory(startMs, stretches), genesisMs, startMs + off),
      ),
      {
        numRuns: runs(15),
        examples: [
          [days, noon, 8 * dayMs],
          [rising, atGenesis, dayMs],
          [full, atGenesis, 7_200_000],
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
    storedAtMs: storedLateMs,
  }));

/** Folds the readings, and compares the statistics of a moment with the reference, before and after a restart. */
function expectPlain(messages: readonly CounterReadingMessage[], genesisMs: number, nowMs: number) {
  const settings = { genesisMs, publicInstallationId: id };
  const [actors, restored] = [createCounterActors(settings), createCounterActors(settings)];
  const stored = toStored(messages);
  for (const message of stored)
    expect(actors.receive({ ...message, timestampNanos: storedLateNanos })).toHaveProperty('output.reading');
  restoreState(restored, actors.capture());
  const nothingSettled = { settled: null, submissions: [] };
  const input = { readings: acceptReadings(stored), genesisMs, ...nothingSettled };
  for (const range of statisticsRanges) {
    const compute = (history: DayHistory | null) =>
      computeStatistics(range, { history, genesisMs, generatedAtMs: nowMs });
    const statistics = compute(actors.history());
    const view = { installationId: id, revision: 'revision', statistics, settled: null, oracle: null };
    const body = toStatisticsBody(1, view);
    const measured = measureStatistics(input, statistics.dayCount, nowMs);
    expect(listDifferences(body, measured)).toEqual([]);
    expect(plainStatisticsResponse.safeParse(body).error).toBeUndefined();
    expect(publicStatisticsResponse.safeParse(toStatisticsBody(2, view)).error).toBeUndefined();
    expect(compute(restored.history())).toEqual(statistics);
  }
}
