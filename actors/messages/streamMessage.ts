import { toMilliseconds } from '../schemas/durations.ts';

export interface StreamMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** When the server stored the message, in nanoseconds since the epoch. Reading it may parse it each time. */
  readonly timestampNanos: bigint;
  /** The same time of a delivered message as a number, which is parsed once and up to 128 ns off. */
  readonly info?: { readonly timestampNanos: number };
  readonly headers?: { get(name: string): string } | undefined;
}

/** Reads when the server stored a message (epoch milliseconds). */
export function readStoredAtMs(message: StreamMessage): number {
  const aboutMs = (message.info?.timestampNanos ?? Number.NaN) / 1e6;
  const part = aboutMs % 1;
  // Only next to a whole millisecond could the rounded time be in another one.
  return part > 0.001 && part < 0.999 ? Math.floor(aboutMs) : toMilliseconds(message.timestampNanos);
}
