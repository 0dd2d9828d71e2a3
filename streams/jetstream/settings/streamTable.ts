import { spanBytesMax } from '../../../actors/chain/spans/chainSpan.ts';
import type { StreamName } from '../../../actors/messages/subjects.ts';
import { settlementBytesMax } from '../../../actors/settlement/decodeSettlement.ts';
import { readingBytesMax } from '../../../actors/wheel/decodeCounter.ts';

/** Bytes reserved for a message's headers, in addition to the largest accepted payload. */
const headersBytesMax = 4 * 1024;
/** Larger than any accepted reading, so that a faulty gateway gets a rejection with a reason, and small enough to bound a flood. */
export const counterMessageBytesMax = 64 * 1024;
export const pipelineMessageBytesMax = settlementBytesMax + headersBytesMax;
/** A rejection without any byte of its message, with its headers. */
const rejectionBytesMin = 8 * 1024;
/** Bound for all rejections, whose number publishers decide. The oldest are removed first. */
export const rejectedBytesMax = 256 * 1024 * 1024;

/** How the settings of a stream differ from the settings of the others. */
interface StreamTraits {
  /** `folded` streams make the state, so that nobody may delete a message. */
  readonly use: 'folded' | 'rejections' | 'lease';
  /** Whether only this service publishes to it, and waits for acknowledgements. */
  readonly isOwn: boolean;
  /** Whether `MINER_RETENTION_DAYS` applies. Spans of the chain always stay: each links to its predecessor, so folding needs the first. */
  readonly isAging: boolean;
  /** Largest valid message with its headers (MESSAGES.md); 0 without a need. */
  readonly neededMessageBytes: number;
  /** Largest message that the stream takes, with its headers. NATS refuses a larger one before it costs anything. Null for the server's limit. */
  readonly messageBytesMax: number | null;
  /** Size of the whole stream; null for any. */
  readonly bytesMax: number | null;
  /** Messages of each subject; null for any number. */
  readonly messagesPerSubject: number | null;
  /** How long the server remembers message IDs, in seconds. An ID of a rejection only links it to its predecessor (`jetStreamPort.ts`). */
  readonly dedupeSeconds: number;
}

const folded: Omit<StreamTraits, 'neededMessageBytes' | 'messageBytesMax'> = {
  use: 'folded',
  isOwn: false,
  isAging: true,
  bytesMax: null,
  messagesPerSubject: null,
  dedupeSeconds: 120,
};

export const streamTable: Readonly<Record<StreamName, StreamTraits>> = {
  MINER_COUNTER: {
    ...folded,
    neededMessageBytes: readingBytesMax + headersBytesMax,
    messageBytesMax: counterMessageBytesMax,
  },
  MINER_PIPELINE: {
    ...folded,
    neededMessageBytes: pipelineMessageBytesMax,
    messageBytesMax: pipelineMessageBytesMax,
  },
  MINER_CHAIN: {
    ...folded,
    isOwn: true,
    isAging: false,
    neededMessageBytes: spanBytesMax + headersBytesMax,
    messageBytesMax: null,
  },
  MINER_REJECTED: {
    use: 'rejections',
    isOwn: true,
    isAging: true,
    neededMessageBytes: rejectionBytesMin,
    messageBytesMax: null,
    bytesMax: rejectedBytesMax,
    messagesPerSubject: null,
    dedupeSeconds: 5,
  },
  MINER_LEASE: {
    use: 'lease',
    isOwn: true,
    isAging: false,
    neededMessageBytes: 0,
    messageBytesMax: null,
    bytesMax: null,
    messagesPerSubject: 1,
    dedupeSeconds: 120,
  },
};
