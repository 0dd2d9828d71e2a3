import type { Logger } from 'pino';
import type { Clock } from '../../actors/clock.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { JetStream } from './natsLink.ts';

/** Dependencies of everything that reads a stream or publishes its rejections. */
export interface StreamReaderOptions extends JetStream {
  readonly stream: InputStreamName;
  readonly clock: Clock;
  readonly logger: Logger;
}
