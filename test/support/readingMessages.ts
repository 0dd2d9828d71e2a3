import { createHash } from 'node:crypto';
import type { JetStreamClient } from '@nats-io/jetstream';
import { counterSubject } from '../../actors/messages/subjects.ts';
import type { CounterReadingMessage } from '../../actors/wheel/counterReading.ts';
import { genesisMs } from './minerProcess.ts';

/** A UUID that is always the same for the same text. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Reading number `index` of an installation, one every ten seconds from the genesis; what a test is about is given. */
export function readingMessage(
  installationId: string,
  index: number,
  given: Partial<CounterReadingMessage> = {},
): CounterReadingMessage {
  const observedAtMs = genesisMs + index * 10_000;
  return {
    telemetryId: uuidOf(`${installationId} reading ${index}`),
    installationId,
    bootId: uuidOf(`${installationId} boot`),
    sequence: index,
    observedAt: new Date(observedAtMs).toISOString(),
    receivedAt: new Date(observedAtMs + 50).toISOString(),
    counterEpoch: uuidOf(`${installationId} epoch`),
    cumulativeWorkUnits: String(index * 7),
    provenance: 'simulated',
    softwareVersion: 'test',
    coreStatus: 'ACTIVE',
    rpmMilli: index % 1_000,
    speedMmPerSecond: (index * 13) % 700,
    distanceMm: (index % 8_640) * 30,
    ...given,
  };
}

/** Something to publish: a subject and its bytes. */
export interface Publication {
  readonly subject: string;
  readonly body: string;
}

export function publicationOf(message: CounterReadingMessage): Publication {
  return { subject: counterSubject(message.installationId), body: JSON.stringify(message) };
}

/**
 * `count` publications of three installations in turn; about one of forty is bad, in each of the ways that a message
 * can be, so every rule has its cases.
 */
export function mixedPublications(count: number, fromIndex = 0): Publication[] {
  const installations = ['wheel.one', 'wheel:two', 'wheel-three'];
  return Array.from({ length: count }, (_, offset) => {
    const number = fromIndex + offset;
    const installationId = installations[number % 3] as string;
    const index = Math.floor(number / 3);
    const good = readingMessage(installationId, index);
    switch (number % 240) {
      case 40:
        return { subject: counterSubject(installationId), body: '{"telemetryId":' };
      case 80:
        return { subject: counterSubject('another'), body: JSON.stringify(good) };
      case 120:
        return publicationOf({
          ...good,
          observedAt: new Date(Date.parse(good.receivedAt) + 300_001).toISOString(),
        });
      case 160:
        return publicationOf({ ...good, sequence: Math.max(0, index - 1) });
      case 200:
        return publicationOf({ ...good, observedAt: new Date(genesisMs - 1).toISOString() });
      case 239:
        return publicationOf({ ...good, cumulativeWorkUnits: '0', sequence: index });
      default:
        return publicationOf(good);
    }
  });
}

/** Publishes in order, a bounded number at a time. Without message IDs, so nothing is left out. */
export async function publishAll(js: JetStreamClient, publications: readonly Publication[]): Promise<void> {
  for (let from = 0; from < publications.length; from += 500) {
    const slice = publications.slice(from, from + 500);
    await Promise.all(slice.map(({ subject, body }) => js.publish(subject, body)));
  }
}
