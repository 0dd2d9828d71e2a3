import { createHash } from 'node:crypto';

/**
 * How far a stream is folded, and the proof that it is still the same stream. JetStream acknowledges before it syncs, so a stream can
 * lose its end and reuse the sequences (ARCHITECTURE.md).
 */
export interface StreamPosition {
  /** Creation time of the stream according to JetStream; null before the first message. */
  readonly streamCreated: string | null;
  /** Sequence of the last folded message; 0 before the first. */
  readonly position: number;
  /** {@link digestMessage} of that message, or {@link missingDigest}; null before the first message, or if unknown. */
  readonly digest: string | null;
}

/** Stands for the digest of a message that was no longer in the stream. */
export const missingDigest = 'missing';

export const startOfStream: StreamPosition = { streamCreated: null, position: 0, digest: null };

/** SHA-256 (hexadecimal) of the subject, time of storage and bytes of a stored message. */
export function digestMessage(subject: string, storedAtNanos: bigint, data: Uint8Array): string {
  return createHash('sha256').update(`${subject}\n${storedAtNanos}\n`).update(data).digest('hex');
}
