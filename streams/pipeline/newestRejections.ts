import { parseStored } from '../jetstream/parseStored.ts';
import { readBackwards } from '../jetstream/readBackwards.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import { type RejectionMessage, rejectionMessage } from './rejectionLog.ts';

/** Bound for the search for rejections of one reason, since each message is a request. */
const searchedMax = 10_000;

/**
 * Reads the newest rejections of all streams, or of one reason, the oldest first. `end` is the sequence of the newest message of
 * `MINER_REJECTED`; 0 before the first. `searched` is the number of rejections that were looked at.
 *
 * @param most number of rejections.
 */
export async function readNewestRejections(
  jetStream: StreamPort,
  { most, reason = null }: { readonly most: number; readonly reason?: string | null },
) {
  const { lastSequence: end } = await jetStream.info('MINER_REJECTED');
  const rejections: RejectionMessage[] = [];
  let searched = 0;
  for await (const stored of readBackwards(jetStream, 'MINER_REJECTED', end)) {
    if (rejections.length === most || searched === searchedMax) break;
    searched++;
    const rejection = parseStored(rejectionMessage, stored);
    if (rejection !== null && (reason === null || rejection.reason === reason)) rejections.unshift(rejection);
  }
  return { rejections, end, searched };
}

/** Reads the rejections after a sequence of `MINER_REJECTED`, the oldest first. `end` is the sequence of its newest message. */
export async function readLaterRejections(jetStream: StreamPort, after: number) {
  const { firstSequence, lastSequence: end } = await jetStream.info('MINER_REJECTED');
  const rejections: RejectionMessage[] = [];
  // A stream that was created again begins anew.
  const from = end < after ? 1 : after + 1;
  for (let seq = Math.max(from, firstSequence); seq <= end; seq++) {
    const stored = await jetStream.message('MINER_REJECTED', seq);
    const rejection = stored === null ? null : parseStored(rejectionMessage, stored);
    if (rejection !== null) rejections.push(rejection);
  }
  return { rejections, end };
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
