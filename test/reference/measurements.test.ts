import fc from 'fast-check';
import { describe, it } from 'vitest';
import { counterSubject, moduleSubject } from '../../actors/messages/subjects.ts';
import { genesisMs } from '../support/genesis.ts';
import { runs } from '../support/propertyRuns.ts';
import { deriveUuid, readingMessage } from '../support/readings/readingMessages.ts';
import { withComparedProgram } from '../support/reference/comparedProgram.ts';

const wheels = ['wheel.one', 'wheel:two', 'wheel-three', 'unknown'];
const deployment = {
  installationId: 'wheel.one',
  genesisTimestamp: genesisMs / 1000,
  streamId: `0x${'5'.repeat(64)}` as const,
  /** Less than the fastest wheel of a hostile history. */
  maximumSpeedMmPerSecond: 2_900,
  onChain: null,
};

const time = fc.constantFrom('2026-01-31T12:00:00Z', '2026-01-31T12:00:00.25Z', '2026-02-01T00:00:00.001Z');

/** As JSON. */
const sixBytes = '\u0001';

/** Mostly a valid value, or one that makes the snapshot malformed. */
const mostly = <Value>(valid: fc.Arbitrary<Value>, ...invalid: readonly Value[]) =>
  fc.oneof({ weight: 30, arbitrary: valid }, { weight: 1, arbitrary: fc.constantFrom(...invalid) });

/** Snapshots of a few modules, some of them with invalid or without optional members. */
const moduleSnapshot = fc.record({
  /** Enough to have too many bytes together. */
  instance: fc.oneof(fc.constantFrom('hall.1', 'hall:2', 'core'), {
    weight: 3,
    arbitrary: fc.nat(30).map((number) => `motor.${number}`),
  }),
  named: fc.constantFrom(null, null, null, null, 'other'),
  body: fc.record(
    {
      driverId: fc.constant('hall'),
      moduleVersion: fc.constant('1.2.3'),
      moduleType: mostly(fc.constant('wheel-sensor'), '', 'x'.repeat(129)),
      schemaVersion: mostly(fc.constantFrom(1, 7), 0),
      state: mostly(
        fc.constantFrom('disabled', 'starting', 'ready', 'degraded', 'faulted', 'stopped'),
        'unknown',
      ),
      observedAt: mostly(time, '2026-02-30T00:00:00Z', '2026-01-31T12:00Z'),
      provenance: fc.constantFrom('hardware', 'simulated', 'replay', 'derived'),
      health: fc.record(
        {
          checkedAt: time,
          message: fc.oneof(fc.constantFrom(null, '', 'ok'), fc.constant(sixBytes.repeat(1_024))),
          code: mostly(fc.constantFrom(null, '', 'E1'), 'x'.repeat(129)),
        },
        { requiredKeys: ['checkedAt'] },
      ),
      data: fc.constantFrom({}, { secret: 1 }),
    },
    { requiredKeys: ['moduleType', 'driverId', 'moduleVersion', 'schemaVersion', 'state', 'observedAt'] },
  ),
});

/** Mostly nothing, or one of a few values, so that they recur. */
const sometimes = <Value>(values: readonly Value[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(...values) });

/** Readings of one wheel, after something may have happened to it. */
const stretch = fc.record({
  wheel: fc.constantFrom('wheel.one', 'wheel:two', 'wheel-three'),
  pauseMs: sometimes([-600_000, -1_000, 121_000, 600_000, 3_600_000, 86_400_000]),
  boot: sometimes([0, 1, 2, 3, 4, 5, 6]),
  /** A device that returns may continue its count or start at another number. */
  sequence: sometimes([0, 1, 40]),
  epoch: sometimes([0, 1, 2, 3]),
  counter: sometimes([0, 100]),
  count: fc.integer({ min: 1, max: 66 }),
  intervalMs: fc.constantFrom(0, 1_000, 20_000, 60_000, 120_000, 120_001),
  work: fc.integer({ min: -1, max: 50 }),
  distanceMm: fc.constantFrom(0, 30_000, 700_000),
  /** Whether each reading is of another boot, or of another epoch too. */
  restarts: sometimes(['boot', 'epoch'] as const),
  /** Earlier messages that are delivered again, and a malformed one. */
  again: sometimes([1, 5, 40, 80]),
  malformed: sometimes(['{"telemetryId":']),
  /** By how much its first reading is before the earliest time that may be accepted. */
  tooEarlyMs: sometimes([0, 1, 86_400_000]),
});

interface Device {
  nowMs: number;
  boot: string;
  epoch: string;
  distanceMm: number;
  readonly sequences: Map<string, number>;
  readonly counters: Map<string, number>;
}

/** Messages of `MINER_COUNTER` as the worst gateways would publish them. */
const hostileHistory = fc.array(stretch, { minLength: 2, maxLength: 20, size: 'max' }).map((stretches) => {
  const messages: { readonly subject: string; readonly data: Uint8Array }[] = [];
  const devices = new Map<string, Device>();
  const store = (subject: string, data: Uint8Array) => messages.push({ subject, data });
  let read = 0;
  for (const { wheel, count, again, malformed, restarts, ...given } of stretches) {
    const device = devices.get(wheel) ?? {
      ...{ nowMs: genesisMs - 900_000, boot: 'boot 0', epoch: 'epoch 0', distanceMm: 0 },
      ...{ sequences: new Map(), counters: new Map() },
    };
    devices.set(wheel, device);
    device.nowMs += given.pauseMs ?? 0;
    if (given.boot !== null) device.boot = `boot ${given.boot}`;
    if (given.sequence !== null) device.sequences.set(device.boot, given.sequence - 1);
    if (given.epoch !== null) device.epoch = `epoch ${given.epoch}`;
    if (given.counter !== null) device.counters.set(device.epoch, given.counter);
    for (let index = 0; index < count; index++) {
      read++;
      const boot = restarts === null ? device.boot : `restart ${read}`;
      const epoch = restarts === 'epoch' ? boot : device.epoch;
      const sequence = (device.sequences.get(boot) ?? -1) + 1;
      const counter = Math.max(0, (device.counters.get(epoch) ?? 0) + given.work);
      device.sequences.set(boot, sequence);
      device.counters.set(epoch, counter);
      device.nowMs += given.intervalMs;
      device.distanceMm += given.distanceMm;
      const observedMs =
        index === 0 && given.tooEarlyMs !== null
          ? genesisMs - 366 * 86_400_000 - given.tooEarlyMs
          : device.nowMs;
      const observedAt = new Date(observedMs).toISOString();
      const body = readingMessage(wheel, sequence, {
        ...{ observedAt, receivedAt: observedAt, distanceMm: device.distanceMm },
        telemetryId: deriveUuid(`${wheel} ${read}`),
        bootId: deriveUuid(boot),
        counterEpoch: deriveUuid(epoch),
        cumulativeWorkUnits: String(counter),
        rpmMilli: (read * 7) % 90,
        speedMmPerSecond: (read * 13) % 3_000,
      });
      store(counterSubject(wheel), Buffer.from(JSON.stringify(body)));
    }
    if (malformed !== null) store(counterSubject('wheel.one'), Buffer.from(malformed));
    if (again !== null) for (const { subject, data } of messages.slice(-again)) store(subject, data);
  }
  return messages;
});

describe('quantities of the measurements', () => {
  it('are of the newest snapshot of each module', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(moduleSnapshot, { maxLength: 90, size: 'max' }), async (snapshots) =>
        withComparedProgram(deployment, genesisMs, async (program) => {
          for (const { instance, named, body } of snapshots) {
            const snapshot = { instanceId: named ?? instance, provenance: 'hardware', data: {}, ...body };
            program.store('MINER_PIPELINE', moduleSubject('wheel.one', instance), snapshot);
          }
          await program.compare('/v1/public/modules');
        }),
      ),
      { numRuns: runs(25) },
    );
  });

  it('are the reference’s, for histories as the worst gateways publish them', async () => {
    await fc.assert(
      // Most readings are of the days before; only later ones are refused for their time.
      fc.asyncProperty(hostileHistory, fc.nat(2_000), async (messages, laterHalfMinutes) =>
        withComparedProgram(deployment, genesisMs + 2 * 86_400_000, async (program) => {
          for (const { subject, data } of messages) program.store('MINER_COUNTER', subject, data);
          program.clock.advance(laterHalfMinutes * 30_000);
          for (const wheel of wheels) {
            const path = `/v1/public/installations/${wheel}`;
            await program.compare(`${path}/telemetry`);
            await program.compare(`${path}/observations?limit=7`);
          }
          await program.compare('/v1/public/telemetry');
          for (const range of ['7d', '30d'])
            for (const path of ['/v2/public/stats', '/v1/measurement/stats'])
              await program.compare(`${path}?range=${range}`);
        }),
      ),
      { numRuns: runs(20) },
    );
  });
});
