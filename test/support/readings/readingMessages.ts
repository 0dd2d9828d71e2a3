import { createHash } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { counterSubject } from '../../../actors/messages/subjects.ts';
import type { CounterReadingMessage } from '../../../actors/wheel/counterReading.ts';
import { genesisMs } from '../genesis.ts';

/** Derives a UUID from a text. */
export function deriveUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Reading number `index` of an installation, by default one every ten seconds from the genesis. A test overrides the members that matter to it. */
export function readingMessage(
  installationId: string,
  index: number,
  overrides: Partial<CounterReadingMessage> = {},
  intervalMs = 10_000,
): CounterReadingMessage {
  const observedAtMs = genesisMs + index * intervalMs;
  return {
    telemetryId: deriveUuid(`${installationId} reading ${index}`),
    installationId,
    bootId: deriveUuid(`${installationId} boot`),
    sequence: index,
    observedAt: new Date(observedAtMs).toISOString(),
    receivedAt: new Date(observedAtMs + 50).toISOString(),
    counterEpoch: deriveUuid(`${installationId} epoch`),
    cumulativeWorkUnits: String(index * 7),
    provenance: 'simulated',
    softwareVersion: 'test',
    coreStatus: 'ACTIVE',
    rpmMilli: index % 1_000,
    speedMmPerSecond: (index * 13) % 700,
    distanceMm: (index % 8_640) * 30,
    ...overrides,
  };
}

/** A subject and bytes to publish. */
export interface Publication {
  readonly subject: string;
  readonly body: string;
}

export function toPublication(message: CounterReadingMessage): Publication {
  return { subject: counterSubject(message.installationId), body: JSON.stringify(message) };
}

/**
 * Builds `count` publications of three installations in turn. About one in forty is bad, in each possible way, so that every rule has
 * its cases.
 */
export function mixedPublications(count: number, fromIndex = 0, intervalMs = 10_000): Publication[] {
  const installations = ['wheel.one', 'wheel:two', 'wheel-three'];
  return Array.from({ length: count }, (_, offset) => {
    const number = fromIndex + offset;
    const installationId = installations[number % 3] as string;
    const index = Math.floor(number / 3);
    const good = readingMessage(installationId, index, {}, intervalMs);
    switch (number % 240) {
      case 40:
        return { subject: counterSubject(installationId), body: '{"telemetryId":' };
      case 80:
        return { subject: counterSubject('another'), body: JSON.stringify(good) };
      case 120:
        return toPublication({
          ...good,
          observedAt: new Date(Date.parse(good.receivedAt) + 300_001).toISOString(),
        });
      case 160:
        return toPublication({ ...good, sequence: Math.max(0, index - 1) });
      case 200:
        return toPublication({ ...good, observedAt: new Date(genesisMs - 1).toISOString() });
      case 239:
        return toPublication({ ...good, cumulativeWorkUnits: '0', sequence: index });
      default:
        return toPublication(good);
    }
  });
}

/** Messages that are sent before the next acknowledgement is awaited. */
const acknowledgedTogether = 5_000;

/**
 * Publishes to one stream in order, without message IDs. The server stores the messages of a connection in order, so the sequences of
 * the first and last show whether all are stored. Acknowledging each would cost several times as much as the message.
 */
export async function publishAll(
  connection: NatsConnection,
  publications: readonly Publication[],
): Promise<void> {
  const js = jetstream(connection, { timeout: 60_000 });
  for (let from = 0; from < publications.length; from += acknowledgedTogether) {
    const slice = publications.slice(from, from + acknowledgedTogether);
    const acknowledged = slice.map(({ subject, body }, index) => {
      if (index === 0 || index === slice.length - 1) return js.publish(subject, body);
      connection.publish(subject, body);
      return null;
    });
    const [first, last] = await Promise.all([acknowledged[0], acknowledged.at(-1)]);
    const stored = (last?.seq ?? 0) - (first?.seq ?? 0) + 1;
    if (stored !== slice.length) throw new Error(`${stored} of ${slice.length} messages were stored`);
  }
}

/** Publishes readings `from` to `to` (exclusive) of an installation, one every ten seconds from the genesis. */
export function publishMany(connection: NatsConnection, installationId: string, from: number, to: number) {
  const readings = Array.from({ length: to - from }, (_, offset) =>
    readingMessage(installationId, from + offset),
  );
  return publishAll(connection, readings.map(toPublication));
}
