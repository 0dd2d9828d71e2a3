import { DeliverPolicy, type JetStreamClient } from '@nats-io/jetstream';
import type { InputStreamName } from '../../actors/messages/subjects.ts';

const answerMs = 5_000;

/** Sequence of the first message that a stream stored at or after a time; null if it stored no message since. */
export async function findSequenceAt(
  js: JetStreamClient,
  stream: InputStreamName,
  time: Date,
): Promise<number | null> {
  const consumer = await js.consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: time.toISOString(),
  });
  try {
    const { num_pending: waiting } = await consumer.info();
    if (waiting === 0) return null;
    return (await consumer.next({ expires: answerMs }))?.seq ?? null;
  } finally {
    consumer.delete().catch(() => undefined); // Already deleted, or the server deletes it once nothing pulls.
  }
}
