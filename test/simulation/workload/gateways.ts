import { counterSubject } from '../../../actors/messages/subjects.ts';
import { inventMeasured } from '../../support/readings/inventMeasured.ts';
import type { SimulatedNats } from '../nats/simulatedNats.ts';
import type { Random } from '../world/random.ts';
import { createPublisher, type Publication } from './publisher.ts';

const installations = ['wheel.one', 'wheel:two', 'wheel-three'];

/** Gateways of some wheels. They publish readings of counters, and now and then faulty ones. */
export type Gateways = ReturnType<typeof createGateways>;

interface GatewaysOptions {
  readonly nats: SimulatedNats;
  readonly random: Random;
  /** The time of the wheels. */
  readonly wallMs: () => number;
}

/** Most readings of a wheel in one span. */
const readingsOfSpanMax = 600;

const dayMs = 86_400_000;

export function createGateways({ nats, random, wallMs }: GatewaysOptions) {
  const wheels = installations.map((installationId) => ({
    installationId,
    bootId: random.uuid(),
    counterEpoch: random.uuid(),
    sequence: 0,
    counter: 0n,
    distanceMm: 0,
    day: 0,
    observedAtMs: 0,
    /** The last replaced counter. */
    earlier: null as { readonly counterEpoch: string; readonly counter: bigint } | null,
  }));
  type Wheel = (typeof wheels)[number];
  const publisher = createPublisher(nats, 'MINER_COUNTER', random);

  function read(wheel: Wheel, observedAtMs: number): Publication {
    if (random.oneOf(200)) {
      wheel.bootId = random.uuid();
      wheel.sequence = 0;
    }
    if (random.oneOf(300)) {
      wheel.earlier = { counterEpoch: wheel.counterEpoch, counter: wheel.counter };
      wheel.counterEpoch = random.uuid();
      wheel.counter = 0n;
    }
    const day = Math.floor((observedAtMs - dayMs / 2) / dayMs);
    if (day !== wheel.day) wheel.distanceMm = 0;
    const isTurning = Math.floor(observedAtMs / 900_000) % 3 !== 0;
    wheel.day = day;
    wheel.sequence++;
    if (isTurning) {
      wheel.counter += BigInt(random.integer(0, 90));
      wheel.distanceMm += random.integer(0, Math.min(60_000, 2.9 * (observedAtMs - wheel.observedAtMs)));
    }
    wheel.observedAtMs = observedAtMs;
    const reading = {
      telemetryId: random.uuid(),
      installationId: wheel.installationId,
      bootId: wheel.bootId,
      sequence: wheel.sequence,
      observedAt: new Date(observedAtMs).toISOString(),
      receivedAt: new Date(observedAtMs + random.integer(0, 400)).toISOString(),
      counterEpoch: wheel.counterEpoch,
      cumulativeWorkUnits: String(wheel.counter),
      provenance: 'simulated',
      softwareVersion: random.oneOf(10) ? null : 'simulated 1',
      coreStatus: isTurning ? 'ACTIVE' : 'IDLE',
      rpmMilli: isTurning ? random.integer(0, 60_000) : 0,
      speedMmPerSecond: isTurning ? random.integer(0, 2_900) : 0,
      distanceMm: wheel.distanceMm,
    };
    return spoil(wheel, { ...reading, ...inventMeasured(reading, wheel.sequence) });
  }

  /** Spoils a message now and then. */
  function spoil(wheel: Wheel, reading: Readonly<Record<string, unknown>>): Publication {
    const subject = counterSubject(wheel.installationId);
    const publish = (body: string, on = subject): Publication => ({
      subject: on,
      messageId: random.oneOf(4) ? null : String(reading.telemetryId),
      body: Buffer.from(body),
    });
    const text = JSON.stringify(reading);
    if (!random.oneOf(25)) return publish(text);
    switch (random.integer(0, 11)) {
      case 0:
        return publish(text.slice(0, random.integer(0, text.length - 1)));
      case 1:
        return publish(text, counterSubject('another'));
      case 2:
        return publish(JSON.stringify({ ...reading, sequence: -1 }));
      case 3: {
        const receivedAt = new Date(Date.parse(String(reading.observedAt)) - 300_001).toISOString();
        return publish(JSON.stringify({ ...reading, receivedAt }));
      }
      case 4: {
        const observedAt = new Date(Date.parse(String(reading.observedAt)) - 7_200_000).toISOString();
        return publish(JSON.stringify({ ...reading, observedAt }));
      }
      case 5:
        return publish(JSON.stringify({ ...reading, cumulativeWorkUnits: String(wheel.counter / 2n) }));
      case 6: {
        const { counterEpoch, counter } = wheel.earlier ?? wheel;
        const cumulativeWorkUnits = String(random.oneOf(2) ? counter / 2n : counter);
        return publish(JSON.stringify({ ...reading, counterEpoch, cumulativeWorkUnits }));
      }
      case 7: {
        // The clock of device and gateway is ten years ahead.
        const at = new Date(Date.parse(String(reading.observedAt)) + 3_650 * dayMs).toISOString();
        return publish(JSON.stringify({ ...reading, observedAt: at, receivedAt: at }));
      }
      case 8: {
        // Half of a surrogate pair makes every other one malformed.
        const character = Number(reading.sequence) % 2 === 0 ? '😀' : '\ud83d';
        return publish(JSON.stringify({ ...reading, softwareVersion: `ü\u0000\t\n\\'"${character}` }));
      }
      case 9: {
        // The clock of device and gateway was never set.
        const at = new Date(Number(reading.sequence)).toISOString();
        return publish(JSON.stringify({ ...reading, observedAt: at, receivedAt: at }));
      }
      case 10:
        return publish(
          JSON.stringify({ ...reading, [random.pick(['distanceMm', 'speedMmPerSecond'])]: 2 ** 32 - 1 }),
        );
      default:
        return publish(`{"filler":"${'x'.repeat(random.integer(10_000, 20_000))}"}`);
    }
  }

  /** Publishes the next reading of a drawn wheel. */
  function publishOne() {
    const wheel = random.pick(wheels);
    // A gateway without an acknowledgement publishes again, perhaps much later.
    if (random.oneOf(30)) publisher.sendAgain();
    publisher.send(read(wheel, Math.max(wheel.observedAtMs, Math.floor(wallMs()))));
  }

  return {
    publishOne,
    flush: publisher.flush,
    /** Counter epoch of the public installation's wheel. */
    counterEpoch: () => (wheels[0] as Wheel).counterEpoch,
    /** Publishes readings of a span in which only the wheels ran. */
    publishSpan: (spanMs: number) => {
      const endMs = Math.floor(wallMs());
      const everyMs = Math.max(random.pick([30_000, 60_000, 110_000]), spanMs / readingsOfSpanMax);
      for (let atMs = endMs - spanMs; atMs < endMs; atMs += everyMs) {
        // Nights, and gaps in between.
        if (random.oneOf(60)) atMs += random.integer(1, 40) * 60_000;
        for (const wheel of wheels)
          if (atMs > wheel.observedAtMs && atMs < endMs)
            publisher.send(read(wheel, Math.floor(atMs) + random.integer(0, 9_000)));
      }
    },
  };
}
