import type { JetStreamManager } from '@nats-io/jetstream';
import { readBackwards } from '../jetstream/readBackwards.ts';
import { parseStored, type RejectionMessage, rejectionMessage } from './rejectionLog.ts';

/** Bound for the search for rejections of one reason, since each message is a request. */
const searchedMax = 10_000;

/**
 * Reads the newest rejections of all streams, or of one reason, the oldest first. `end` is the sequence of the newest message of
 * `MINER_REJECTED`; 0 before the first. `searched` is the number of rejections that were looked at.
 *
 * @param most number of rejections.
 */
export async function readNewestRejections(
  jsm: JetStreamManager,
  { most, reason = null }: { readonly most: number; readonly reason?: string | null },
) {
  const { state } = await jsm.streams.info('MINER_REJECTED');
  const rejections: RejectionMessage[] = [];
  let searched = 0;
  for await (const stored of readBackwards(jsm, 'MINER_REJECTED', state.last_seq)) {
    if (rejections.length === most || searched === searchedMax) break;
    searched++;
    const rejection = parseStored(rejectionMessage, stored);
    if (rejection !== null && (reason === null || rejection.reason === reason)) rejections.unshift(rejection);
  }
  return { rejections, end: state.last_seq, searched };
}

/** Reads the rejections after a sequence of `MINER_REJECTED`, the oldest first. `end` is the sequence of its newest message. */
export async function readLaterRejections(jsm: JetStreamManager, after: number) {
  const { state } = await jsm.streams.info('MINER_REJECTED');
  const rejections: RejectionMessage[] = [];
  // A stream that was created again begins anew.
  const from = state.last_seq < after ? 1 : after + 1;
  for (let seq = Math.max(from, state.first_seq); seq <= state.last_seq; seq++) {
    const stored = await jsm.streams.getMessage('MINER_REJECTED', { seq });
    const rejection = stored === null ? null : parseStored(rejectionMessage, stored);
    if (rejection !== null) rejections.push(rejection);
  }
  return { rejections, end: state.last_seq };
}

/** Formats one line: the time of storage, the message, the reason and the detail. */
export function formatRejection({
  storedAt,
  stream,
  sequence,
  reason,
  subject,
  detail,
}: RejectionMessage): string {
  // A message may hold anything, but must not move the cursor of a terminal.
  const shown = JSON.stringify(`${subject}: ${detail}`).slice(1, -1).replaceAll('\\"', '"');
  return `${storedAt} ${stream} ${sequence} ${reason} ${shown}`;
}
