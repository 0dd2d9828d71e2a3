import type { JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import type { Clock } from '../../actors/clock.ts';
import type { StreamName } from '../../actors/messages/subjects.ts';
import { digestMessage, missingDigest, parseNanos, type StreamPosition } from './streamPosition.ts';
import { createSuspicions, type Testimony } from './suspicions.ts';

type DivergenceReason = 'stream_recreated' | 'stream_ends_before_position' | 'other_message_at_position';

/** The stream is not the folded one. The caller returns to a place that matches it. */
export class StreamDiverged extends Error {
  override readonly name = 'StreamDiverged';
  readonly stream: StreamName;
  readonly reason: DivergenceReason;

  constructor(stream: StreamName, { reason, detail }: Contradiction) {
    super(`${stream} is not the stream that was folded: ${detail}`);
    this.stream = stream;
    this.reason = reason;
  }
}

interface Contradiction {
  readonly reason: DivergenceReason;
  readonly detail: string;
}

/** A stream as its leader describes it, which may not have applied yet what another server has delivered. */
export interface StreamState {
  readonly created: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly config: StreamConfig;
}

export async function readStreamState(jsm: JetStreamManager, stream: StreamName): Promise<StreamState> {
  return toState(await jsm.streams.info(stream));
}

interface StreamVerifierOptions {
  readonly jsm: JetStreamManager;
  readonly stream: StreamName;
  readonly clock: Pick<Clock, 'bootMs'>;
}

export type StreamVerifier = ReturnType<typeof createStreamVerifier>;

/**
 * Compares what was folded and stored with the current stream (MESSAGES.md, Consumption). An answer that contradicts it is a suspicion, and
 * counts once it is proven: until then each method throws `NotProven`.
 */
export function createStreamVerifier({ jsm, stream, clock }: StreamVerifierOptions) {
  const suspicions = createSuspicions(clock);

  /**
   * Compares a place with the current stream, whose state it returns. A missing message proves nothing below the first sequence: other
   * messages may have taken the sequences, and have been deleted since.
   *
   * @throws StreamDiverged when the place's message is not in this stream.
   */
  async function verify(place: StreamPosition): Promise<StreamState> {
    const { position, digest } = place;
    // Requested before the info: a message that retention removes in between is then below the first sequence.
    const stored = digest === null ? null : await jsm.streams.getMessage(stream, { seq: position });
    const info = await jsm.streams.info(stream);
    const currentDigest =
      stored === null
        ? missingDigest
        : digestMessage(stored.subject, parseNanos(stored.timestamp), stored.data);
    const contradiction = contradict(info, place) ?? contradictMessage(info, place, currentDigest);
    const claim = `${stream} no longer has message ${position} that was folded as ${digest} from the stream created ${place.streamCreated}`;
    if (isProven(info, { claim, isConfirmed: contradiction !== null }) && contradiction !== null)
      throw new StreamDiverged(stream, contradiction);
    return toState(info);
  }

  /** Whether an answer confirms a claim of the caller, and the claim is proven. */
  function isProven({ config }: Pick<StreamState, 'config'>, claimed: Omit<Testimony, 'replicas'>): boolean {
    return suspicions.isProven({ ...claimed, replicas: config.num_replicas });
  }

  /**
   * Why the messages from `fromSequence` to `toSequence` are missing: retention or a purge removed them from the front, or somebody deleted
   * single ones. Null if the stream has no explanation.
   */
  async function explainGap({ fromSequence, toSequence }: SequenceRange): Promise<GapExplanation | null> {
    const info = await jsm.streams.info(stream, { deleted_details: true });
    const explanation = findExplanation(info, { fromSequence, toSequence });
    const isDeleted = {
      claim: `message ${fromSequence} was deleted from ${stream}`,
      isConfirmed: explanation === 'deleted',
    };
    return isRemoved(info, fromSequence, explanation === 'removed') || isProven(info, isDeleted)
      ? explanation
      : null;
  }

  /** Whether it is proven that a message was removed from the front. The range is no part of the claim, since retention goes on meanwhile. */
  function isRemoved(state: Pick<StreamState, 'config'>, sequence: number, isConfirmed: boolean): boolean {
    return isProven(state, { claim: `message ${sequence} was removed from ${stream}`, isConfirmed });
  }

  return { verify, explainGap, isRemoved, isProven };
}

/** What an answer says against a place, as far as that needs no message; null if it says nothing. */
export function contradict({ created, state }: StreamInfo, place: StreamPosition): Contradiction | null {
  if (place.streamCreated !== null && place.streamCreated !== created) {
    return {
      reason: 'stream_recreated',
      detail: `created ${created}, the folded one was created ${place.streamCreated}`,
    };
  }
  if (state.last_seq >= place.position) return null;
  return {
    reason: 'stream_ends_before_position',
    detail: `it ends at ${state.last_seq}, folded through ${place.position}`,
  };
}

function contradictMessage(
  { state }: StreamInfo,
  { position, digest }: StreamPosition,
  currentDigest: string,
): Contradiction | null {
  if (digest === null || position < state.first_seq || currentDigest === digest) return null;
  return {
    reason: 'other_message_at_position',
    detail: `message ${position} was ${digest} when it was folded and is ${currentDigest} now`,
  };
}

type GapExplanation = 'removed' | 'deleted';

interface SequenceRange {
  readonly fromSequence: number;
  readonly toSequence: number;
}

function findExplanation(
  { state }: StreamInfo,
  { fromSequence, toSequence }: SequenceRange,
): GapExplanation | null {
  const firstHeld = Math.max(fromSequence, state.first_seq);
  if (firstHeld > toSequence) return 'removed';
  const deleted = new Set(state.deleted ?? []);
  for (let sequence = firstHeld; sequence <= toSequence; sequence++) {
    if (!deleted.has(sequence)) return null;
  }
  return 'deleted';
}

function toState({ created, state, config }: StreamInfo): StreamState {
  return { created, firstSequence: state.first_seq, lastSequence: state.last_seq, config };
}
