import { setImmediate as nextTurn } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, JetStreamError } from '@nats-io/jetstream';
import { nuid } from '@nats-io/transport-node';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { boundPulls } from './boundedPulls.ts';
import type { StreamReaderOptions } from './streamReaderOptions.ts';

/** Messages and bytes that are requested at a time; the event loop turns between two requests. */
const batchMessages = 512;
const batchBytes = 4 * 1024 * 1024;
const fetchMs = 3_000;
const inactiveNanos = 10_000_000_000;

interface ReadRangeOptions extends Pick<StreamReaderOptions, 'connection' | 'js' | 'jsm' | 'stream'> {
  /** Only its messages are read. */
  readonly subject: string;
  readonly fromSequence: number;
  readonly messagesMax: number;
}

/** The messages of one subject that a stream holds from a sequence on, once. Ends early where the server does not send more. */
export async function* readRange(options: ReadRangeOptions): AsyncGenerator<StreamMessage> {
  const { connection, js, jsm, stream, subject, fromSequence, messagesMax } = options;
  // Not an ordered one: those have their filters in a list, which servers before 2.10 refuse.
  // Named here, since only a request with a name says the stream and the consumer that its sender must be allowed to create.
  const { name, num_pending: pending } = await jsm.consumers.add(stream, {
    name: nuid.next(),
    filter_subject: subject,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: fromSequence,
    ack_policy: AckPolicy.None,
    inactive_threshold: inactiveNanos,
  });
  const consumer = await boundPulls(connection, js, batchBytes).consumers.get(stream, name);
  try {
    let left = Math.min(messagesMax, pending);
    while (left > 0) {
      const before = left;
      const fetched = await consumer.fetch({ max_messages: Math.min(left, batchMessages), expires: fetchMs });
      try {
        for await (const message of fetched) {
          left--;
          yield message;
        }
      } catch (error) {
        // With a bound in bytes the server also says that a request is at its end, which the client takes for an error.
        if (!(error instanceof JetStreamError) || left === before) throw error;
      }
      // Messages that left the stream meanwhile do not come any more.
      if (left === before) return;
      await nextTurn();
    }
  } finally {
    await consumer.delete().catch(() => undefined); // The server deletes it after its threshold.
  }
}
