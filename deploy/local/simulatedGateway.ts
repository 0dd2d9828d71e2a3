import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { counterSubject, moduleSubject, signerSubject } from '../../actors/messages/subjects.ts';
import type { CounterReadingMessage } from '../../actors/wheel/counterReading.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import { retryUntilAvailable } from '../../streams/operators/retryUntilAvailable.ts';
import { simulateModules, simulateSigner } from './simulatedModules.ts';
import { listPastTimes, observe, rebootWheel, type WheelState } from './simulatedWheel.ts';

/** Maximum number of published readings that wait for acknowledgements. */
const inFlightMax = 256;
const liveIntervalMs = 1_000;
/** The device agent reports its modules once per this many readings. */
const modulesEvery = 30;

export interface SimulatedGatewayOptions {
  readonly jetStream: StreamPort;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

interface PastSettings {
  readonly untilMs: number;
  readonly intervalMs: number;
  /** The device restarts once, at this time. */
  readonly rebootMs: number;
}

/**
 * Publishes a wheel's past at full speed, from the wheel's time to `untilMs`. If it is killed, another call with the wheel of the last
 * stored reading completes it.
 */
export async function publishPast(
  options: SimulatedGatewayOptions,
  start: WheelState,
  { untilMs, intervalMs, rebootMs }: PastSettings,
): Promise<WheelState> {
  let wheel = start;
  let inFlight: Promise<void>[] = [];
  const firstMs = start.sequence === 0 ? start.observedAtMs : start.observedAtMs + intervalMs;
  for (const atMs of listPastTimes(start.seed, { fromMs: firstMs, untilMs, intervalMs })) {
    if (options.signal.aborted) break;
    if (wheel.observedAtMs < rebootMs && atMs >= rebootMs) wheel = rebootWheel(wheel);
    const observed = observe(wheel, atMs);
    wheel = observed.wheel;
    inFlight.push(publishReading(options, observed.message));
    if (inFlight.length < inFlightMax) continue;
    await Promise.all(inFlight);
    inFlight = [];
  }
  await Promise.all(inFlight);
  return wheel;
}

/** Continues in real time, one reading per second, until the signal is aborted. */
export async function runGateway(
  options: SimulatedGatewayOptions,
  start: WheelState,
  nowMs: () => number,
): Promise<void> {
  let wheel = start;
  let count = 0;
  const publishNext = async () => {
    const observed = observe(wheel, Math.max(nowMs(), wheel.observedAtMs));
    wheel = observed.wheel;
    await publishReading(options, observed.message);
    const { installationId } = wheel;
    if (count % modulesEvery === 0)
      await publishModules(options, { installationId, atMs: nowMs(), report: count / modulesEvery });
    count++;
  };
  const { signal } = options;
  while (!signal.aborted) {
    await publishNext();
    await wait(liveIntervalMs - (nowMs() % liveIntervalMs), undefined, { signal }).catch(() => undefined); // It was aborted.
  }
}

/**
 * Publishes a message repeatedly until it is acknowledged: its ID makes repetitions harmless.
 *
 * @throws the signal's reason if it is aborted first.
 */
async function publishReading(
  { jetStream, logger, signal }: SimulatedGatewayOptions,
  message: CounterReadingMessage,
): Promise<void> {
  const publish = () =>
    jetStream.publish(counterSubject(message.installationId), JSON.stringify(message), message.telemetryId);
  await retryUntilAvailable(publish, {
    signal,
    onFirstFailure: (error) => logger.warn({ err: error }, 'the simulated gateway cannot publish; retrying'),
  });
}

async function publishModules(
  { jetStream, logger }: SimulatedGatewayOptions,
  { installationId, atMs, report }: { installationId: string; atMs: number; report: number },
) {
  try {
    for (const module of simulateModules(atMs, report)) {
      await jetStream.publish(moduleSubject(installationId, module.instanceId), JSON.stringify(module));
    }
    if (report === 0)
      await jetStream.publish(signerSubject(installationId), JSON.stringify(simulateSigner(atMs)));
  } catch (error) {
    logger.warn({ err: error }, 'module snapshots were not published; the next ones follow'); // Only the newest snapshot matters.
  }
}
