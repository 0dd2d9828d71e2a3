import { parseStored } from '../jetstream/parseStored.ts';
import { readBackwards } from '../jetstream/readBackwards.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import { type RejectionMessage, rejectionMessage } from './rejectionLog.ts';

/** Bound for the search for rejections of one reason, since each message is a request. */
const searchedMax = 10_000;

/**
 * Reads the newest rejections of all streams, or of one reason, the oldest first. `searched` is the number of rejections that were looked at.
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
  return { rejections, searched };
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
