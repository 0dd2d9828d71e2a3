import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type { StreamPort } from '../../../streams/nats/streamPort.ts';

type StreamConfiguration = Parameters<StreamPort['create']>[0];

/** A JetStream stream: messages with sequences, possibly with gaps. */
export type StoredStream = ReturnType<typeof createStoredStream>;

export function createStoredStream(configuration: StreamConfiguration, createdNanos: bigint) {
  const messages = new Map<number, StreamMessage>();
  const retired = new Map<number, StreamMessage>();
  const ids = new Map<string, { readonly sequence: number; readonly atNanos: bigint }>();
  let first = 1;
  let last = 0;
  let lastNanos = createdNanos;

  function advanceFirst() {
    while (first <= last && !messages.has(first)) first++;
  }

  function limitSubject(subject: string) {
    const limit = stream.configuration.max_msgs_per_subject ?? -1;
    if (limit <= 0) return;
    const same = [...messages.values()].filter((message) => message.subject === subject);
    for (const { seq } of same.slice(0, Math.max(0, same.length - limit))) messages.delete(seq);
    advanceFirst();
  }

  /** Removes everything below a sequence. Returns the number of removed messages. */
  function removeBefore(sequence: number): number {
    const before = messages.size;
    for (const at of messages.keys()) if (at < sequence) messages.delete(at);
    first = Math.max(first, Math.min(sequence, last + 1));
    advanceFirst();
    return before - messages.size;
  }

  const stream = {
    configuration,
    createdNanos,
    get firstSequence(): number {
      return first;
    },
    get lastSequence(): number {
      return last;
    },
    /** When its last message was stored, which may have left it. */
    get lastNanos(): bigint {
      return lastNanos;
    },
    messages,
    /** Messages that `retireBefore` removed. */
    retired,
    removeBefore,
    takes: (subject: string) =>
      stream.configuration.subjects?.some((pattern) => matchesSubject(pattern, subject)) ?? false,
    add: (subject: string, data: Uint8Array, timestampNanos: bigint) => {
      const message: StreamMessage = { seq: ++last, subject, data, timestampNanos };
      lastNanos = timestampNanos;
      messages.set(last, message);
      if (messages.size === 1) first = last;
      limitSubject(subject);
      return message;
    },
    /** The first message at or above a sequence. */
    next: (sequence: number): StreamMessage | null => {
      for (let at = Math.max(sequence, first); at <= last; at++) {
        const message = messages.get(at);
        if (message !== undefined) return message;
      }
      return null;
    },
    /** The last message of a subject, which may be a pattern, of those that were stored through a time. */
    lastOf: (subject: string, throughNanos?: bigint): StreamMessage | null => {
      for (let at = last; at >= first; at--) {
        const message = messages.get(at);
        const isKnown =
          message !== undefined && (throughNanos === undefined || message.timestampNanos <= throughNanos);
        if (isKnown && matchesSubject(subject, message.subject)) return message;
      }
      return null;
    },
    /** Sequence of the first message that was stored at or after a time; null without one. */
    firstSince: (nanos: bigint): number | null => {
      for (const { seq, timestampNanos } of messages.values()) if (timestampNanos >= nanos) return seq;
      return null;
    },
    /** Sequence of the last message that was stored through a time, or of what was lost or removed before it. */
    lastThrough: (nanos: bigint): number => {
      let through = last;
      while (through >= first && (messages.get(through)?.timestampNanos ?? nanos) > nanos) through--;
      return through;
    },
    /** Sequence of a stored message ID; null if it is unknown or its window is over. */
    findDuplicate: (messageId: string, atNanos: bigint): number | null => {
      const known = ids.get(messageId);
      const window = BigInt(stream.configuration.duplicate_window ?? 120_000_000_000);
      return known === undefined || atNanos - known.atNanos > window ? null : known.sequence;
    },
    noteId: (messageId: string, sequence: number, atNanos: bigint) => {
      ids.set(messageId, { sequence, atNanos });
    },
    /** Removes one message. Returns whether there was one. */
    remove: (sequence: number): boolean => {
      const isFound = messages.delete(sequence);
      advanceFirst();
      return isFound;
    },
    /** Removes everything below a sequence, as retention does, and keeps it in `retired`. */
    retireBefore: (sequence: number) => {
      for (const [at, message] of messages) if (at < sequence) retired.set(at, message);
      removeBefore(sequence);
    },
    /** Removes messages older than the configured age. */
    expire: (nowNanos: bigint) => {
      const age = BigInt(stream.configuration.max_age ?? 0);
      if (age === 0n) return;
      for (const [sequence, { timestampNanos }] of messages) {
        if (nowNanos - timestampNanos <= age) break;
        messages.delete(sequence);
      }
      advanceFirst();
    },
    /** Loses everything above a sequence, as in a power failure. New messages use these sequences again. */
    loseAbove: (sequence: number) => {
      const kept = Math.max(sequence, first - 1);
      for (let at = kept + 1; at <= last; at++) messages.delete(at);
      for (const [id, known] of ids) if (known.sequence > kept) ids.delete(id);
      last = Math.min(last, kept);
    },
    /** Sequences between the first and the last that are gone. */
    listDeleted: (): number[] => {
      const deleted: number[] = [];
      for (let at = first; at <= last; at++) if (!messages.has(at)) deleted.push(at);
      return deleted;
    },
  };
  return stream;
}

const star = '*'.charCodeAt(0);
const rest = '>'.charCodeAt(0);
const dot = '.'.charCodeAt(0);

/** Whether a subject matches a pattern. A wildcard always stands for whole tokens. */
function matchesSubject(pattern: string, subject: string): boolean {
  let given = 0;
  for (let at = 0; at < pattern.length; at++) {
    const wanted = pattern.charCodeAt(at);
    if (wanted === rest) return given < subject.length;
    if (wanted === star) {
      if (given === subject.length) return false;
      while (given < subject.length && subject.charCodeAt(given) !== dot) given++;
    } else if (subject.charCodeAt(given++) !== wanted) return false;
  }
  return given === subject.length;
}

/** A time in JetStream's format: RFC 3339 with as many fractional digits as needed. */
export function formatNanos(nanos: bigint): string {
  const whole = new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 19);
  const fraction = String(nanos % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`;
}
