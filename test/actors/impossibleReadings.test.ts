import { describe, expect, it } from 'vitest';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { counterReadingMessage, toCounterReading } from '../../actors/wheel/counterReading.ts';
import { genesisMs } from '../support/genesis.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';

const dayMs = 86_400_000;
const subject = 'miner.counter.wheel~one';

/** Reason for which a reading is refused as a message and as a stored reading; null if it is accepted. */
function judge(observedAtMs: number, measured: object, maximumSpeedMmPerSecond?: number) {
  const settings = { genesisMs, publicInstallationId: 'wheel.one', maximumSpeedMmPerSecond };
  const at = new Date(observedAtMs).toISOString();
  const body = readingMessage('wheel.one', 0, { observedAt: at, receivedAt: at, ...measured });
  const message = createCounterActors(settings).receive(jsonMessage(subject, body));
  const reading = toCounterReading(counterReadingMessage.parse(body), 1);
  const stored = createCounterActors(settings).receiveStored(reading);
  expect('rejection' in stored && stored.rejection).toEqual('rejection' in message && message.rejection);
  return 'rejection' in message ? `${message.rejection.reason}: ${message.rejection.detail}` : null;
}

describe('a reading, new or stored', () => {
  it('may be observed up to 366 days before round 1', () => {
    expect(judge(genesisMs - 366 * dayMs, {})).toBeNull();
    expect(judge(genesisMs - 366 * dayMs - 1, {})).toBe(
      'past_observation: observedAt: expected at most 366 days before round 1 (2026-01-31T12:00:00.000Z), given 2025-01-30T11:59:59.999Z: was the clock set?',
    );
  });

  it('may have any speed and distance without a maximum speed', () => {
    const huge = { speedMmPerSecond: 2 ** 53 - 1, distanceMm: 2 ** 53 - 1 };
    expect(judge(genesisMs, huge)).toBeNull();
  });

  it('may have the maximum speed, and a distance at that speed since noon and for 120 s more', () => {
    const atMs = genesisMs + 3 * dayMs + 1_500;
    expect(judge(atMs, { speedMmPerSecond: 999, distanceMm: 121_378 }, 999)).toBeNull();
    expect(judge(atMs, { speedMmPerSecond: 1_000, distanceMm: 0 }, 999)).toBe(
      'implausible: speedMmPerSecond: expected at most 999, the maximum of the deployment, given 1000',
    );
    expect(judge(atMs, { speedMmPerSecond: 0, distanceMm: 121_379 }, 999)).toBe(
      'implausible: distanceMm: expected at most 121378, the way since noon and for 2 minutes more at 999 mm/s, given 121379',
    );
    expect(judge(atMs - 1_501, { speedMmPerSecond: 0, distanceMm: 86_433_479 }, 999)).toBeNull();
  });
});
