import fc from 'fast-check';
import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import { counterSubject } from '../../../actors/messages/subjects.ts';
import { genesisMs } from '../genesis.ts';
import { deriveUuid, readingMessage } from './readingMessages.ts';

const wheels = ['wheel.one', 'wheel:two', 'wheel-three'] as const;

const wheel = fc.nat(wheels.length - 1);

/** Events of the wheels, in order. */
const event = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      wheels: fc.uniqueArray(wheel, { minLength: 1 }),
      count: fc.integer({ min: 1, max: 60 }),
      intervalMs: fc.constantFrom(0, 1_000, 20_000, 60_000, 120_000, 120_001),
      work: fc.integer({ min: -1, max: 50 }),
      distanceMm: fc.constantFrom(0, 30_000, 700_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      wheel,
      ms: fc.constantFrom(-1_000, 121_000, 600_000, 3_600_000, 86_400_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('boot' as const),
      wheel,
      /** One of a few values, so that they recur, or a new one. */
      boot: fc.nat(6),
      /** A device that returns may continue its count or start at another number. */
      sequence: fc.constantFrom(null, 0, 1, 40),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('manyBoots' as const), wheel, epochs: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('epoch' as const),
      wheel,
      epoch: fc.nat(3),
      work: fc.constantFrom(null, 0, 100),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('delivered again' as const),
      back: fc.integer({ min: 1, max: 80 }),
      count: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('malformed' as const) }) },
);

type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

/** Messages of `MINER_COUNTER` as the worst gateways would publish them, from sequence 1. */
export const hostileHistory: fc.Arbitrary<StreamMessage[]> = fc
  .array(event, { minLength: 3, maxLength: 25, size: 'max' })
  .map(publish);

interface Device {
  nowMs: number;
  boot: string;
  readonly sequences: Map<string, number>;
  epoch: string;
  readonly work: Map<string, number>;
  distanceMm: number;
  serial: number;
}

function publish(events: readonly Event[]): StreamMessage[] {
  const messages: StreamMessage[] = [];
  const devices = wheels.map(
    (): Device => ({
      nowMs: genesisMs - 900_000,
      boot: 'boot 0',
      sequences: new Map(),
      epoch: 'epoch 0',
      work: new Map(),
      distanceMm: 0,
      serial: 0,
    }),
  );
  const store = (subject: string, data: Uint8Array) =>
    messages.push({
      seq: messages.length + 1,
      subject,
      data,
      timestampNanos: BigInt(messages.length) * 1_000_000n,
    });
  const read = (number: number) => {
    const id = wheels[number] as string;
    const device = devices[number] as Device;
    const sequence = (device.sequences.get(device.boot) ?? -1) + 1;
    device.sequences.set(device.boot, sequence);
    const observedAt = new Date(device.nowMs).toISOString();
    const body = readingMessage(id, sequence, {
      telemetryId: deriveUuid(`${id} ${device.serial++}`),
      observedAt,
      receivedAt: observedAt,
      bootId: deriveUuid(device.boot),
      counterEpoch: deriveUuid(device.epoch),
      cumulativeWorkUnits: String(device.work.get(device.epoch) ?? 0),
      distanceMm: device.distanceMm,
      rpmMilli: (device.serial * 7) % 90,
      speedMmPerSecond: (device.serial * 13) % 3_000,
    });
    store(counterSubject(id), Buffer.from(JSON.stringify(body)));
  };
  for (const one of events) apply(one, { devices, messages, store, read });
  return messages;
}

interface World {
  readonly devices: readonly Device[];
  readonly messages: readonly StreamMessage[];
  readonly store: (subject: string, data: Uint8Array) => void;
  readonly read: (wheel: number) => void;
}

function apply(one: Event, { devices, messages, store, read }: World): void {
  if (one.kind === 'malformed') {
    store(counterSubject('wheel.one'), Buffer.from('{"telemetryId":'));
    return;
  }
  if (one.kind === 'delivered again') {
    const from = Math.max(0, messages.length - one.back);
    for (const { subject, data } of messages.slice(from, from + one.count)) store(subject, data);
    return;
  }
  if (one.kind === 'run') {
    for (let index = 0; index < one.count; index++)
      for (const number of one.wheels) {
        const device = devices[number] as Device;
        device.nowMs += one.intervalMs;
        device.distanceMm += one.distanceMm;
        device.work.set(device.epoch, Math.max(0, (device.work.get(device.epoch) ?? 0) + one.work));
        read(number);
      }
    return;
  }
  const device = devices[one.wheel] as Device;
  if (one.kind === 'pause') device.nowMs += one.ms;
  else if (one.kind === 'boot') {
    device.boot = `boot ${one.boot}`;
    if (one.sequence !== null) device.sequences.set(device.boot, one.sequence - 1);
  } else if (one.kind === 'epoch') {
    device.epoch = `epoch ${one.epoch}`;
    if (one.work !== null) device.work.set(device.epoch, one.work);
  } else {
    const { boot, epoch } = device;
    for (let number = 0; number < 66; number++) {
      device.boot = `boot ${device.serial}`;
      if (one.epochs) device.epoch = `epoch ${device.serial}`;
      read(one.wheel);
    }
    Object.assign(device, { boot, epoch });
  }
}
