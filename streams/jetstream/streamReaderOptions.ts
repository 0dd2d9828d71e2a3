import type { Logger } from 'pino';
import type { Clock } from '../../actors/clock.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import type { StreamVerifier } from './proofs/streamVerifier.ts';

/** Dependencies of everything that reads a stream or publishes its rejections. */
export interface StreamReaderOptions {
  readonly jetStream: StreamPort;
  readonly stream: InputStreamName;
  /** One for everything that a process reads of this stream. */
  readonly verifier: StreamVerifier;
  readonly clock: Clock;
  readonly logger: Logger;
}
