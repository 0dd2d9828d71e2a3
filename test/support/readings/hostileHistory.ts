import fc from 'fast-check';
import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import { counterSubject } from '../../../actors/messages/subjects.ts';
import { genesisMs } from '../genesis.ts';
import { deriveUuid, readingMessage } from './readingMessages.ts';

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

/** Messages of `MINER_COUNTER` as the worst gateways would publish them, from sequence 1. */
export const hostileHistory: fc.Arbitrary<StreamMessage[]> = fc
  .array(stretch, { minLength: 2, maxLength: 20, size: 'max' })
  .map((stretches) => {
    const messages: StreamMessage[] = [];
    const devices = new Map<string, Device>();
    const store = (subject: string, data: Uint8Array) => {
      const timestampNanos = BigInt(messages.length) * 1_000_000n;
      messages.push({ seq: messages.length + 1, subject, data, timestampNanos });
    };
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
