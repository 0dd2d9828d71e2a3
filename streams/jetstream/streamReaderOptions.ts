import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Clock } from '../../actors/clock.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';

/** Dependencies of everything that reads a stream or publishes its rejections. */
export interface StreamReaderOptions {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly stream: InputStreamName;
  readonly clock: Clock;
  readonly logger: Logger;
}
