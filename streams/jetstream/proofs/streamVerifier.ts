import type { Clock } from '../../../actors/clock.ts';
import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type { StreamName } from '../../../actors/messages/subjects.ts';
import type { ErrorKind } from '../../../machines/failures.ts';
import type { StreamInfo, StreamPort } from '../../nats/streamPort.ts';
import { digestMessage, missingDigest, type StreamPosition } from './streamPosition.ts';
import { createSuspicions, type Testimony } from './suspicions.ts';

type DivergenceReason = 'stream_recreated' | 'stream_ends_before_position' | 'other_message_at_position';

/** The stream is not the folded one. The caller returns to a stream position that matches it. */
export class StreamDiverged extends Error {
  override readonly name = 'StreamDiverged';
  readonly kind: ErrorKind = 'diverged';
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

type InfoOptions = Parameters<StreamPort['info']>[1];

/** An answer about a stream. */
export interface StreamAnswer {
  readonly info: StreamInfo;
  /** When it was asked for (`Clock.bootMs`). */
  readonly askedAtMs: number;
}

/** @throws while a replicated stream has no leader: then any server answers, and may be far behind. */
export async function readInfo(
  jetStream: Pick<StreamPort, 'info'>,
  stream: StreamName,
  options: InfoOptions = {},
): Promise<StreamInfo> {
  const info = await jetStream.info(stream, options);
  const { cluster, replicas } = info;
  if (cluster !== null && replicas > 1 && cluster.leader === null)
    throw new Error(`${stream} has no leader at the moment`);
  return info;
}

interface StreamVerifierOptions {
  readonly jetStream: Pick<StreamPort, 'info' | 'message'>;
  readonly stream: StreamName;
  readonly clock: Pick<Clock, 'bootMs'>;
}

export type StreamVerifier = ReturnType<typeof createStreamVerifier>;

/**
 * Compares what was folded and stored with the current stream (ARCHITECTURE.md). An answer that contradicts it is a suspicion, and
 * counts once it is proven: until then each method throws `NotProven`.
 */
export function createStreamVerifier({ jetStream, stream, clock }: StreamVerifierOptions) {
  const suspicions = createSuspicions(clock);
  /** Deleted sequences that each answer has listed since the first one, which is part of the claim. */
  let listed: { readonly claim: string; readonly sequences: ReadonlySet<number> } = {
    claim: '',
    sequences: new Set(),
  };

  async function ask(options?: InfoOptions): Promise<StreamAnswer> {
    const askedAtMs = clock.bootMs();
    return { info: await readInfo(jetStream, stream, options), askedAtMs };
  }

  /** Asks for a message, null if it is not there, and then for the stream: what retention removes in between is below its first sequence. */
  async function askForMessage(
    position: number,
  ): Promise<StreamAnswer & { readonly stored: StreamMessage | null }> {
    const askedAtMs = clock.bootMs();
    const stored = await jetStream.message(stream, position);
    return { stored, info: await readInfo(jetStream, stream), askedAtMs };
  }

  /**
   * Compares a stream position with the current stream, and returns the answer about it. A missing message proves nothing below the first sequence: other
   * messages may have taken the sequences, and have been deleted since.
   *
   * @throws StreamDiverged when the stream position's message is not in this stream.
   */
  async function verify(streamPosition: StreamPosition): Promise<StreamAnswer> {
    const { position, digest } = streamPosition;
    const answer = digest === null ? { stored: null, ...(await ask()) } : await askForMessage(position);
    const { info, stored } = answer;
    const currentDigest =
      stored === null ? missingDigest : digestMessage(stored.subject, stored.timestampNanos, stored.data);
    const contradiction =
      contradict(info, streamPosition) ?? contradictMessage(info, streamPosition, currentDigest);
    const claim = `${stream} no longer has message ${position} that was folded as ${digest} from the stream created ${streamPosition.streamCreated}`;
    if (isProven(answer, { claim, isConfirmed: contradiction !== null }) && contradiction !== null)
      throw new StreamDiverged(stream, contradiction);
    return answer;
  }

  /** Whether an answer confirms a claim of the caller, and the claim is proven. */
  function isProven(
    { info, askedAtMs }: StreamAnswer,
    claimed: Pick<Testimony, 'claim' | 'isConfirmed'>,
  ): boolean {
    return suspicions.isProven({ ...claimed, askedAtMs, replicas: info.replicas });
  }

  /** Finds out why messages are missing; null if the stream has no explanation. */
  async function explainGap(missing: SequenceRange): Promise<GapExplanation | null> {
    const answer = await ask({ withDeleted: true });
    const { firstSequence, deleted } = answer.info;
    if (isRemoved(answer, missing.fromSequence, firstSequence > missing.toSequence)) return 'removed';
    const gone = new Set(deleted);
    const repeated = new Set([...listed.sequences].filter((sequence) => gone.has(sequence)));
    listed = { ...listed, sequences: repeated };
    if (!hasAll(gone, missing)) return null;
    if (!hasAll(repeated, missing))
      listed = {
        claim: `messages ${missing.fromSequence} to ${missing.toSequence} of ${stream} were deleted before ${answer.askedAtMs}`,
        sequences: gone,
      };
    const { claim, sequences } = listed;
    return isProven(answer, { claim, isConfirmed: true }) ? sequences : null;
  }

  /** Whether it is proven that a message was removed from the front. The range is no part of the claim, since retention goes on meanwhile. */
  function isRemoved(answer: StreamAnswer, sequence: number, isConfirmed: boolean): boolean {
    return isProven(answer, { claim: `message ${sequence} was removed from ${stream}`, isConfirmed });
  }

  /** Sequence through which messages after a stream position were removed from the front, once that is proven; null if none were. */
  function findRemoved(answer: StreamAnswer, { position }: StreamPosition): number | null {
    const { firstSequence: first } = answer.info;
    return isRemoved(answer, position + 1, first > position + 1) ? first - 1 : null;
  }

  /** Whether it is proven that the stream ends before a message whose rows are stored. */
  async function hasLostEnd(position: number): Promise<boolean> {
    const answer = await ask();
    const claim = `${stream} ends before ${position}, whose rows are stored`;
    return isProven(answer, { claim, isConfirmed: answer.info.lastSequence < position });
  }

  return { ask, askForMessage, verify, explainGap, findRemoved, hasLostEnd, isProven };
}

/** Finds out whether an answer contradicts a stream position, as far as that needs no message; null if it does not. */
export function contradict(
  { created, lastSequence }: StreamInfo,
  streamPosition: StreamPosition,
): Contradiction | null {
  if (streamPosition.streamCreated !== null && streamPosition.streamCreated !== created) {
    return {
      reason: 'stream_recreated',
      detail: `created ${created}, the folded one was created ${streamPosition.streamCreated}`,
    };
  }
  if (lastSequence >= streamPosition.position) return null;
  return {
    reason: 'stream_ends_before_position',
    detail: `it ends at ${lastSequence}, folded through ${streamPosition.position}`,
  };
}

function contradictMessage(
  { firstSequence }: StreamInfo,
  { position, digest }: StreamPosition,
  currentDigest: string,
): Contradiction | null {
  if (digest === null || position < firstSequence || currentDigest === digest) return null;
  return {
    reason: 'other_message_at_position',
    detail: `message ${position} was ${digest} when it was folded and is ${currentDigest} now`,
  };
}

/**
 * Retention or a purge removed the messages from the front, or somebody deleted single ones. Then these are all sequences that are proven to be
 * deleted, so that one proof explains the later gaps too.
 */
type GapExplanation = 'removed' | ReadonlySet<number>;

interface SequenceRange {
  readonly fromSequence: number;
  readonly toSequence: number;
}

/** Whether a set has all sequences of a range. */
export function hasAll(sequences: ReadonlySet<number>, { fromSequence, toSequence }: SequenceRange): boolean {
  for (let sequence = fromSequence; sequence <= toSequence; sequence++)
    if (!sequences.has(sequence)) return false;
  return true;
}
