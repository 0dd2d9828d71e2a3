import type { Rejection } from './decodeMessage.ts';

/** What became of a message that an actor reads: what it made of it, or why it was not accepted. */
export type Received<Output> = { readonly rejection: Rejection } | { readonly output: Output };

/** What became of a message of a stream; `unread` where it is of a kind that no view reads. */
export type Outcome<Output> = 'unread' | Received<Output>;
