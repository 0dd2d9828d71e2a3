import type { JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import type { StreamName } from '../../actors/messages/subjects.ts';
import { digestMessage, missingDigest, parseNanos, type StreamPosition } from './streamPosition.ts';

type DivergenceReason = 'stream_recreated' | 'stream_ends_before_position' | 'other_message_at_position';

/** The stream is not the folded one. The caller returns to a place that matches it. */
export class StreamDiverged extends Error {
  override readonly name = 'StreamDiverged';
  readonly stream: StreamName;
  readonly reason: DivergenceReason;

  constructor(stream: StreamName, reason: DivergenceReason, detail: string) {
    super(`${stream} is not the stream that was folded: ${detail}`);
    this.stream = stream;
    this.reason = reason;
  }
}

export interface VerifiedStream {
  readonly created: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly config: StreamConfig;
}

/**
 * Compares a place with the current stream (MESSAGES.md, Consumption). A missing message proves nothing: other messages may have taken
 * the sequences, and have been deleted since.
 *
 * @throws StreamDiverged when the place's message is not in this stream.
 */
export async function verifySource(
  jsm: JetStreamManager,
  stream: StreamName,
  place: StreamPosition,
): Promise<VerifiedStream> {
  const { position, digest } = place;
  // Requested before the info: a message that retention removes in between is then below the first sequence.
  const stored = digest === null ? null : await jsm.streams.getMessage(stream, { seq: position });
  const info = await jsm.streams.info(stream);
  checkIdentity(stream, info, place);
  const { created, state, config } = info;
  const verified = { created, firstSequence: state.first_seq, lastSequence: state.last_seq, config };
  if (digest === null || position < verified.firstSequence) return verified;
  const currentDigest =
    stored === null
      ? missingDigest
      : digestMessage(stored.subject, parseNanos(stored.timestamp), stored.data);
  if (currentDigest !== digest) {
    throw new StreamDiverged(
      stream,
      'other_message_at_position',
      `message ${position} was ${digest} when it was folded and is ${currentDigest} now`,
    );
  }
  return verified;
}

/** The checks that need no message: cheap enough to run every few seconds while following. */
export function checkIdentity(stream: StreamName, info: StreamInfo, place: StreamPosition): void {
  if (place.streamCreated !== null && place.streamCreated !== info.created) {
    throw new StreamDiverged(
      stream,
      'stream_recreated',
      `created ${info.created}, the folded one was created ${place.streamCreated}`,
    );
  }
  if (info.state.last_seq < place.position) {
    throw new StreamDiverged(
      stream,
      'stream_ends_before_position',
      `it ends at ${info.state.last_seq}, folded through ${place.position}`,
    );
  }
}

/** Why messages are missing: retention or a purge removed them from the front, or somebody deleted single ones. */
type GapExplanation = 'removed' | 'deleted';

/** Why the messages from `fromSequence` to `toSequence` are missing; null if the stream has no explanation. */
export async function explainGap(
  jsm: JetStreamManager,
  stream: StreamName,
  { fromSequence, toSequence }: { readonly fromSequence: number; readonly toSequence: number },
): Promise<GapExplanation | null> {
  const info = await jsm.streams.info(stream, { deleted_details: true });
  const firstHeld = Math.max(fromSequence, info.state.first_seq);
  if (firstHeld > toSequence) return 'removed';
  const deleted = new Set(info.state.deleted ?? []);
  for (let sequence = firstHeld; sequence <= toSequence; sequence++) {
    if (!deleted.has(sequence)) return null;
  }
  return 'deleted';
}
