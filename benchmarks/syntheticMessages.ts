import { from } from 'rxjs';
import type { StreamMessage } from '../actors/messages/streamMessage.ts';
import { counterSubject } from '../actors/messages/subjects.ts';
import { batchMessagesMax, type MessageBatch } from '../streams/jetstream/messageBatch.ts';
import type { MessageSource } from '../streams/jetstream/messageSource.ts';
import { genesisMs, readingBody } from './readingLoad.ts';

/** Messages of a made-up stream, one after another from sequence 1, in memory that threads share. */
export interface SyntheticMessages {
  readonly bytes: SharedArrayBuffer;
  /** Where each message begins, and the last one ends. */
  readonly offsets: Float64Array<SharedArrayBuffer>;
  readonly installations: number;
}

const streamCreated = 'synthetic';

/** A reading per second of each installation. */
export function createSyntheticMessages(count: number, installations: number): SyntheticMessages {
  const offsets = new Float64Array(new SharedArrayBuffer((count + 1) * Float64Array.BYTES_PER_ELEMENT));
  const bodies = Array.from({ length: count }, (_, index) => {
    const second = Math.floor(index / installations);
    return Buffer.from(
      readingBody(nameInstallation(index, installations), second, genesisMs + second * 1_000),
    );
  });
  for (const [index, body] of bodies.entries()) offsets[index + 1] = (offsets[index] as number) + body.length;
  const bytes = new SharedArrayBuffer(offsets[count] as number);
  const into = Buffer.from(bytes);
  for (const [index, body] of bodies.entries()) body.copy(into, offsets[index]);
  return { bytes, offsets, installations };
}

function nameInstallation(index: number, installations: number): string {
  return `wheel-${index % installations}`;
}

/** The messages after one sequence through another, without a server. */
export function* readSynthetic(
  { bytes, offsets, installations }: SyntheticMessages,
  after: number,
  through: number,
): Iterable<MessageBatch> {
  const messageAt = (index: number): StreamMessage => {
    const begin = offsets[index] as number;
    return {
      seq: index + 1,
      subject: counterSubject(nameInstallation(index, installations)),
      data: Buffer.from(bytes, begin, (offsets[index + 1] as number) - begin),
      timestampNanos: BigInt(genesisMs + index) * 1_000_000n,
    };
  };
  for (let begin = after; begin < through; begin += batchMessagesMax) {
    const length = Math.min(batchMessagesMax, through - begin);
    const position = begin + length;
    yield {
      messages: Array.from({ length }, (_, offset) => messageAt(begin + offset)),
      stored: [],
      streamCreated,
      position,
      weight: 0,
      place: () => ({ streamCreated, position, digest: null }),
    };
  }
}

export function createSyntheticSource(
  messages: SyntheticMessages,
  through: number,
): Pick<MessageSource, 'batchesAfter'> {
  return { batchesAfter: ({ position }) => from(readSynthetic(messages, position, through)) };
}
