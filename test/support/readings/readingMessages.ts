import { createHash } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { counterSubject } from '../../../actors/messages/subjects.ts';
import type { CounterReadingMessage } from '../../../actors/wheel/counterReading.ts';
import { genesisMs } from '../genesis.ts';

/** A UUID that is always the same for the same text. */
export function deriveUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Reading number `index` of an installation, one every ten seconds from the genesis unless another interval is passed; a test overrides what it is about. */
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

/** Something to publish: a subject and its bytes. */
export interface Publication {
  readonly subject: string;
  readonly body: string;
}

export function toPublication(message: CounterReadingMessage): Publication {
  return { subject: counterSubject(message.installationId), body: JSON.stringify(message) };
}

/**
 * `count` publications of three installations in turn; about one of forty is bad, in each of the ways that a message
 * can be, so every rule has its cases.
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

/** So many are sent before the server is waited for. */
const acknowledgedTogether = 5_000;

/**
 * Publishes to one stream, in order and without message IDs, so nothing is left out. The server stores what a connection sends in that order: the sequences
 * of the first and the last say whether all are stored. An acknowledgement of each would cost several times what the message does.
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

/** Publishes readings `from` to `to` (not included) of an installation, one every ten seconds from the genesis unless another pace is given. */
export async function publishMany(
  connection: NatsConnection,
  installationId: string,
  from: number,
  to: number,
  { startMs, intervalMs } = { startMs: genesisMs, intervalMs: 10_000 },
) {
  const publicationAt = (index: number) => {
    const observedMs = startMs + index * intervalMs;
    const observedAt = new Date(observedMs).toISOString();
    const receivedAt = new Date(observedMs + 50).toISOString();
    return toPublication(readingMessage(installationId, index, { observedAt, receivedAt }));
  };
  // Not all of them in memory at once: a year has millions.
  for (let start = from; start < to; start += acknowledgedTogether) {
    const length = Math.min(acknowledgedTogether, to - start);
    await publishAll(
      connection,
      Array.from({ length }, (_, offset) => publicationAt(start + offset)),
    );
  }
}
