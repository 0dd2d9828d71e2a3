import { setImmediate as nextTurn } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { nuid } from '@nats-io/transport-node';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import type { StreamReaderOptions } from './streamReaderOptions.ts';

/** Messages per request, 4 MiB of the largest readings; the event loop turns between two requests. */
const batchMessages = 64;
const fetchMs = 3_000;
const inactiveNanos = 10_000_000_000;

interface ReadRangeOptions extends Pick<StreamReaderOptions, 'js' | 'jsm' | 'stream'> {
  readonly subject: string;
  readonly fromSequence: number;
  readonly messagesMax: number;
}

/** Reads the stored messages of one subject from a sequence on. Ends early if the server sends no more. */
export async function* readRange(options: ReadRangeOptions): AsyncGenerator<StreamMessage> {
  const { js, jsm, stream, subject, fromSequence, messagesMax } = options;
  // Not an ordered consumer: it has a list of filters, which servers before 2.10 refuse.
  // Named, since the rights of users are granted for named consumers.
  const { name, num_pending: pending } = await jsm.consumers.add(stream, {
    name: nuid.next(),
    filter_subject: subject,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: fromSequence,
    ack_policy: AckPolicy.None,
    inactive_threshold: inactiveNanos,
  });
  const consumer = await js.consumers.get(stream, name);
  try {
    let left = Math.min(messagesMax, pending);
    while (left > 0) {
      const before = left;
      const fetched = await consumer.fetch({ max_messages: Math.min(left, batchMessages), expires: fetchMs });
      for await (const message of fetched) {
        left--;
        yield message;
      }
      // Messages that have left the stream meanwhile never arrive.
      if (left === before) return;
      await nextTurn();
    }
  } finally {
    await consumer.delete().catch(() => undefined); // The server deletes it after its threshold.
  }
}
