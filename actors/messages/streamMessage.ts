import { toMilliseconds } from '../schemas/durations.ts';

export interface StreamMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** When the server stored the message, in nanoseconds since the epoch. Reading it may parse it each time. */
  readonly timestampNanos: bigint;
  /** The same in epoch milliseconds, if it is known already. */
  readonly storedAtMs?: number;
  readonly headers?: { get(name: string): string } | undefined;
}

/** Reads when the server stored a message (epoch milliseconds). */
export function readStoredAtMs(message: StreamMessage): number {
  return message.storedAtMs ?? toMilliseconds(message.timestampNanos);
}
