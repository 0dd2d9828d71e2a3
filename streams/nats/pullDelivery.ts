import { createInbox, type Msg, type MsgHdrs, type NatsConnection, nanos } from '@nats-io/transport-node';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { toMilliseconds } from '../../actors/schemas/durations.ts';
import type { Delivery } from './streamPort.ts';

/** A pull expires after this, which the server reports; a later one takes its place. 2.9 drops one in sixty that expire while messages arrive. */
const pullExpiresMs = 20_000;
/** A waiting pull has a report at least this often. */
const heartbeatMs = 2_000;
/** After this many checks in a row that have heard nothing the consumer, its server, the pull or the wire is gone. */
const checkMs = 1_000;
const silentChecksMax = 5;
/** Statuses in normal operation: a heartbeat, and a pull that has expired. All others mean trouble. */
const [heartbeatCode, expiredCode] = [100, 408];
/** Milliseconds are these first digits of today's nanoseconds. */
const [nanosDigits, millisecondsDigits] = [19, 13];

interface PulledConsumer {
  readonly stream: string;
  readonly name: string;
  /** Most messages that are requested ahead of the reader. */
  readonly ahead: number;
  /** Called once when the delivery ends. */
  readonly onStopped: () => void;
}

/** Pulls the messages of a consumer without acknowledgements, which the library does at twice the cost (DECISIONS.md). */
export function pullDelivery(
  connection: NatsConnection,
  { stream, name, ahead, onStopped }: PulledConsumer,
): Delivery {
  const inbox = createInbox();
  let arrived: StreamMessage[] = [];
  /** Messages that the reader has not finished, and requested ones that have not arrived. */
  let [inHand, outstanding] = [0, 0];
  let silentChecks = 0;
  let reason: string | null = null;
  let wake: () => void = () => undefined;
  let prefixLength = 0;

  function pull() {
    const batch = ahead - outstanding - arrived.length - inHand;
    if (reason !== null || batch < ahead / 2) return;
    outstanding += batch;
    silentChecks = 0;
    const request = { batch, expires: nanos(pullExpiresMs), idle_heartbeat: nanos(heartbeatMs) };
    connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, JSON.stringify(request), {
      reply: inbox,
    });
  }

  function receive(message: Msg) {
    silentChecks = 0;
    const { subject, reply = '' } = message;
    if (subject === inbox) return receiveStatus(message.headers);
    prefixLength ||= measurePrefix(reply);
    outstanding--;
    // One piece for all messages that arrive within a turn of the event loop.
    if (arrived.length === 0) setImmediate(wake);
    arrived.push(new DeliveredMessage(message, subject, reply, prefixLength));
  }

  function receiveStatus(headers: MsgHdrs | undefined) {
    if (headers?.code === heartbeatCode) return;
    if (headers?.code !== expiredCode)
      return stop(`consumer: ${headers?.status ?? 'a message without a status'}`);
    outstanding -= Number(headers.get('Nats-Pending-Messages'));
    pull();
  }

  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => (error === null ? receive(message) : stop(`consumer: ${error.message}`)),
  });
  const checks = setInterval(() => {
    if (outstanding > 0 && ++silentChecks === silentChecksMax) stop('consumer: silent');
  }, checkMs);

  function stop(why: string) {
    if (reason !== null) return;
    reason = why;
    clearInterval(checks);
    subscription.unsubscribe();
    onStopped();
    wake();
  }

  pull();
  return {
    reason: () => reason,
    stop,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const piece = arrived;
        arrived = [];
        if (piece.length > 0) {
          inHand = piece.length;
          yield piece;
          inHand = 0;
          pull();
        } else if (reason !== null) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}

/** A delivered message. Its exact time and its headers are decoded only for who reads them. */
class DeliveredMessage implements StreamMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly storedAtMs: number;
  private readonly message: Msg;
  private readonly nanos: string;

  /** @param prefixLength of the reply before the number of deliveries, from {@link measurePrefix}. */
  constructor(message: Msg, subject: string, reply: string, prefixLength: number) {
    const sequenceAt = reply.indexOf('.', prefixLength) + 1;
    const sequenceEnd = reply.indexOf('.', sequenceAt);
    const timeAt = reply.indexOf('.', sequenceEnd + 1) + 1;
    this.seq = Number(reply.slice(sequenceAt, sequenceEnd));
    this.subject = subject;
    this.data = message.data;
    this.message = message;
    this.nanos = reply.slice(timeAt, reply.indexOf('.', timeAt));
    this.storedAtMs =
      this.nanos.length === nanosDigits
        ? Number(this.nanos.slice(0, millisecondsDigits))
        : toMilliseconds(this.timestampNanos);
  }

  get timestampNanos() {
    return BigInt(this.nanos);
  }

  get headers() {
    return this.message.headers;
  }
}

/**
 * Length of what replies of one delivery have in common: `$JS.ACK.STREAM.CONSUMER.`, in later forms with a domain and an account's hash before the stream.
 * Then follow the number of deliveries, the sequences in stream and consumer, the time, and the number of waiting messages.
 */
function measurePrefix(reply: string): number {
  const parts = reply.split('.');
  return parts.slice(0, parts.length > 9 ? 6 : 4).join('.').length + 1;
}
