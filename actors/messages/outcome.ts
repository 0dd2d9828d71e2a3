import type { Rejection } from './decodeMessage.ts';

/** Result of a message that an actor reads: its output, or the reason for its rejection. */
export type Received<Output> = { readonly rejection: Rejection } | { readonly output: Output };

/** Result of any message of a stream; `unread` for a kind that no view reads. */
export type Outcome<Output> = 'unread' | Received<Output>;
