import { dayMs, noonMs } from '../../actors/schemas/durations.ts';
import type { CounterReading, CounterReadingMessage } from '../../actors/wheel/counterReading.ts';
import { computeSeededFraction, createSeededUuid } from './seeded.ts';

/** A full turn of the wheel, and the pulses that its counter adds in one. */
const circumferenceMm = 1_000;
const unitsPerTurn = 4;
/** The wheel runs or rests for whole intervals of this length. */
const stretchMs = 4 * 60_000;
/** The gateway receives a reading this long after it was observed. */
const receiptMs = 60;
/** Speed of the fastest sprint, in millimetres per second. */
export const simulatedSpeedMax = 3_000;

export interface WheelState {
  readonly installationId: string;
  readonly seed: string;
  readonly bootId: string;
  readonly sequence: number;
  readonly counterEpoch: string;
  readonly observedAtMs: number;
  readonly totalDistanceMm: bigint;
  readonly dayDistanceMm: number;
}

interface WheelSettings {
  readonly installationId: string;
  readonly seed: string;
  readonly startMs: number;
}

export function createWheel({ installationId, seed, startMs }: WheelSettings): WheelState {
  return {
    installationId,
    seed,
    bootId: createUuid(seed, 'boot', 0),
    sequence: 0,
    counterEpoch: createUuid(seed, 'epoch', 0),
    observedAtMs: startMs,
    totalDistanceMm: 0n,
    dayDistanceMm: 0,
  };
}

/** The wheel after its last published reading, in the same boot. */
export function resumeWheel(reading: CounterReading, seed: string): WheelState {
  return {
    installationId: reading.installationId,
    seed,
    bootId: reading.bootId,
    sequence: reading.sequence + 1,
    counterEpoch: reading.counterEpoch,
    observedAtMs: reading.observedAtMs,
    totalDistanceMm: (reading.cumulativeWorkUnits * BigInt(circumferenceMm)) / BigInt(unitsPerTurn),
    dayDistanceMm: reading.distanceMm,
  };
}

/** The wheel after its device has restarted: a new boot, the same counter. */
export function rebootWheel(wheel: WheelState): WheelState {
  return { ...wheel, bootId: createUuid(wheel.seed, wheel.bootId, wheel.sequence), sequence: 0 };
}

/** The wheel at a later time, and the reading that its gateway publishes of it. */
export function observe(
  wheel: WheelState,
  atMs: number,
): { wheel: WheelState; message: CounterReadingMessage } {
  const runMm = computeDistanceMm(wheel.seed, wheel.observedAtMs, atMs);
  const totalDistanceMm = wheel.totalDistanceMm + BigInt(runMm);
  const isSameDay = computeUniversalDay(atMs) === computeUniversalDay(wheel.observedAtMs);
  const dayDistanceMm = isSameDay ? wheel.dayDistanceMm + runMm : runMm;
  const speedMmPerSecond = computeSpeed(wheel.seed, atMs);
  const message: CounterReadingMessage = {
    telemetryId: createUuid(wheel.seed, wheel.bootId, wheel.sequence),
    installationId: wheel.installationId,
    bootId: wheel.bootId,
    sequence: wheel.sequence,
    observedAt: new Date(atMs).toISOString(),
    receivedAt: new Date(atMs + receiptMs).toISOString(),
    counterEpoch: wheel.counterEpoch,
    cumulativeWorkUnits: ((totalDistanceMm * BigInt(unitsPerTurn)) / BigInt(circumferenceMm)).toString(),
    provenance: 'simulated',
    softwareVersion: 'simulated-wheel-1',
    coreStatus: speedMmPerSecond > 0 ? 'ACTIVE' : 'IDLE',
    rpmMilli: Math.round((speedMmPerSecond * 60_000) / circumferenceMm),
    speedMmPerSecond,
    distanceMm: dayDistanceMm,
  };
  const next = { ...wheel, sequence: wheel.sequence + 1, observedAtMs: atMs, totalDistanceMm, dayDistanceMm };
  return { wheel: next, message };
}

/** Whether the link to the gateway is down: about one outage of 2 to 40 minutes a day. */
function isOutage(seed: string, atMs: number): boolean {
  const day = Math.floor(atMs / dayMs);
  const startMs = day * dayMs + Math.floor(draw(seed, 'outage at', day) * (dayMs - 3_600_000));
  const lengthMs = 120_000 + Math.floor(draw(seed, 'outage for', day) * 38 * 60_000);
  return atMs >= startMs && atMs < startMs + lengthMs;
}

/** Times of the past at which a reading is published: every `intervalMs`, except in outages. */
export function* listPastTimes(
  seed: string,
  { fromMs, untilMs, intervalMs }: { fromMs: number; untilMs: number; intervalMs: number },
): Iterable<number> {
  for (let atMs = fromMs; atMs < untilMs; atMs += intervalMs) if (!isOutage(seed, atMs)) yield atMs;
}

/** Millimetres run in a span of time, summed over its stretches. */
function computeDistanceMm(seed: string, fromMs: number, toMs: number): number {
  let runMm = 0;
  for (let atMs = fromMs; atMs < toMs; ) {
    const endMs = Math.min(toMs, (Math.floor(atMs / stretchMs) + 1) * stretchMs);
    runMm += (computeSpeed(seed, atMs) * (endMs - atMs)) / 1000;
    atMs = endMs;
  }
  return Math.floor(runMm);
}

/** The animal sleeps by day and runs in most stretches of the night (UTC). */
function computeSpeed(seed: string, atMs: number): number {
  const stretch = Math.floor(atMs / stretchMs);
  const hour = Math.floor((atMs % dayMs) / 3_600_000);
  const isNight = hour >= 20 || hour < 6;
  const isRunning = draw(seed, 'runs', stretch) < (isNight ? 0.45 : 0.03);
  // 0.3 to 1.1 m/s, and now and then a sprint of up to 3 m/s.
  const isSprint = draw(seed, 'sprints', stretch) < 0.01;
  const speed = isSprint
    ? 2_000 + draw(seed, 'speed', stretch) * (simulatedSpeedMax - 2_000)
    : 300 + draw(seed, 'speed', stretch) * 800;
  return isRunning ? Math.round(speed) : 0;
}

function computeUniversalDay(atMs: number): number {
  return Math.floor((atMs - noonMs) / dayMs);
}

/** A number in [0, 1) that is always the same for the same arguments. */
function draw(seed: string, what: string, index: number): number {
  return computeSeededFraction(`${seed}/${what}/${index}`);
}

function createUuid(seed: string, what: string, index: number): string {
  return createSeededUuid(`${seed}/${what}/${index}`);
}
