import type { StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** Bytes of the largest message, with its headers, that the server accepts for a stream. */
export function findMessageBytesMax({ info }: NatsConnection, { max_msg_size: size }: StreamConfig): number {
  const payloadMax = info?.max_payload ?? Number.POSITIVE_INFINITY;
  return size > 0 ? Math.min(size, payloadMax) : payloadMax;
}
