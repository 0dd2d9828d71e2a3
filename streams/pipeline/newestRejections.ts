import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import { readBackwards } from '../jetstream/readBackwards.ts';
import { type RejectionMessage, rejectionMessage } from './rejectionLog.ts';

/** Bound for the search for rejections of one reason, since each message is a request. */
const searchedMax = 10_000;

interface NewestRejections {
  /** The oldest first. */
  readonly rejections: readonly RejectionMessage[];
  /** Sequence of the newest message of `MINER_REJECTED`; 0 while it is empty. */
  readonly end: number;
}

/** Reads the newest rejections of all streams, or of one reason, up to a limit. */
export async function readNewestRejections(
  jsm: JetStreamManager,
  { most, reason = null }: { readonly most: number; readonly reason?: string | null },
): Promise<NewestRejections> {
  const { state } = await jsm.streams.info('MINER_REJECTED');
  const rejections: RejectionMessage[] = [];
  let searched = 0;
  for await (const stored of readBackwards(jsm, 'MINER_REJECTED', state.last_seq)) {
    if (rejections.length === most || searched++ === searchedMax) break;
    const rejection = parseRejection(stored);
    if (rejection !== null && (reason === null || rejection.reason === reason)) rejections.unshift(rejection);
  }
  return { rejections, end: state.last_seq };
}

/** Reads the rejections after a sequence of `MINER_REJECTED`. */
export async function readLaterRejections(jsm: JetStreamManager, after: number): Promise<NewestRejections> {
  const { state } = await jsm.streams.info('MINER_REJECTED');
  const rejections: RejectionMessage[] = [];
  for (let seq = Math.max(after + 1, state.first_seq); seq <= state.last_seq; seq++) {
    const stored = await jsm.streams.getMessage('MINER_REJECTED', { seq });
    const rejection = stored === null ? null : parseRejection(stored);
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

/** Null for a message of another publisher, or with a reason of a later version. */
function parseRejection(stored: StoredMsg): RejectionMessage | null {
  try {
    return rejectionMessage.parse(stored.json());
  } catch {
    return null;
  }
}
