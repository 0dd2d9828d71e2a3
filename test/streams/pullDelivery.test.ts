import { headers, type Msg, type NatsConnection, type SubscriptionOptions } from '@nats-io/transport-node';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readStoredAtMs, type StreamMessage } from '../../actors/messages/streamMessage.ts';
import { pullDelivery } from '../../streams/nats/pullDelivery.ts';

/** A delivery whose server is the test. */
function begin(ahead: number) {
  const pulled: number[] = [];
  let inbox = '';
  let callback: SubscriptionOptions['callback'] = () => undefined;
  const onStopped = vi.fn();
  const connection = {
    publish: (_subject: string, request: string) => pulled.push(JSON.parse(request).batch),
    subscribe: (subject: string, options: SubscriptionOptions) => {
      [inbox, callback] = [subject, options.callback];
      return { unsubscribe: () => undefined };
    },
  } as unknown as NatsConnection;
  const delivery = pullDelivery(connection, { stream: 'S', name: 'C', ahead, onStopped });
  const send = (message: Partial<Msg>) => callback?.(null, message as Msg);
  return {
    pulled,
    delivery,
    onStopped,
    pieces: delivery[Symbol.asyncIterator](),
    deliver: (seq: number, more: Partial<Msg> = {}) =>
      send({ subject: 's', data: new Uint8Array(), reply: `$JS.ACK.S.C.1.${seq}.${seq}.5000000.0`, ...more }),
    sendStatus: (message: Partial<Msg>) => send({ subject: inbox, ...message }),
    fail: (error: Error) => callback?.(error, {} as Msg),
    report: (code: number, description: string, pending = 0) => {
      const status = headers(code, description);
      status.set('Nats-Pending-Messages', String(pending));
      send({ subject: inbox, headers: status });
    },
  };
}

const read = async (pieces: AsyncIterator<readonly StreamMessage[]>) => {
  const { value, done } = await pieces.next();
  return done ? 'end' : (value as readonly StreamMessage[]).map(({ seq }) => seq);
};

it('asks for more once half of it is read, never for more than it may hold', async () => {
  const { pulled, pieces, deliver, report } = begin(4);
  deliver(1);
  expect(await read(pieces)).toEqual([1]);
  deliver(2);
  expect(await read(pieces)).toEqual([2]);
  expect(pulled).toEqual([4]);
  deliver(3);
  expect(await read(pieces)).toEqual([3]);
  expect(pulled).toEqual([4, 2]);
  // One message is in the reader's hand, and the pulls have ended.
  report(408, 'Request Timeout', 1);
  expect(pulled).toEqual([4, 2]);
  report(408, 'Request Timeout', 2);
  expect(pulled).toEqual([4, 2, 3]);
});

it('delivers what arrives within a turn as one piece, also what has arrived before its end', async () => {
  const { pieces, pulled, deliver, report, delivery, onStopped } = begin(3);
  const piece = read(pieces);
  deliver(1);
  await Promise.resolve();
  deliver(2);
  expect(await piece).toEqual([1, 2]);
  deliver(3);
  report(409, 'Leadership Change');
  expect([await read(pieces), await read(pieces)]).toEqual([[3], 'end']);
  delivery.stop('late');
  expect([delivery.reason(), pulled]).toEqual(['consumer: 409 Leadership Change', [3]]);
  expect(onStopped).toHaveBeenCalledOnce();
});

it('ends by a message without a status, without a consumer, and by an error of the subscription', async () => {
  const endings = [begin(1), begin(1), begin(1)] as const;
  endings[0].sendStatus({});
  endings[1].report(503, ' ');
  endings[2].fail(new Error('no permission'));
  const reasons = endings.map(({ delivery }) => delivery.reason());
  expect(reasons).toEqual([
    'consumer: a message without a status',
    'consumer: 503',
    'consumer: no permission',
  ]);
});

it.each([
  ['$JS.ACK.S.C.1.7.3.1700000000123456789.0', 1_700_000_000_123, 1_700_000_000_123_456_789n],
  ['$JS.ACK.S.C.12.7.3.999999999999999999.5', 999_999_999_999, 999_999_999_999_999_999n],
  ['$JS.ACK.S.C.1.7.3.42.0', 0, 42n],
  ['$JS.ACK._.HASH.S.C.1.7.3.1700000000123999999.0', 1_700_000_000_123, 1_700_000_000_123_999_999n],
  ['$JS.ACK.hub.HASH.S.C.1.7.3.1700000000123000000.0.rand', 1_700_000_000_123, 1_700_000_000_123_000_000n],
])('reads sequence and times of %s', async (reply, storedAtMs, nanos) => {
  const { pieces, deliver } = begin(9);
  const messageHeaders = headers();
  const data = Buffer.from('body');
  deliver(0, { reply, data, headers: messageHeaders });
  const [message] = ((await pieces.next()).value ?? []) as StreamMessage[];
  expect(message).toMatchObject({
    seq: 7,
    subject: 's',
    data,
    timestampNanos: nanos,
    headers: messageHeaders,
  });
  expect(message && readStoredAtMs(message)).toBe(storedAtMs);
});

it('ends when not even heartbeats arrive, but not while nothing is requested', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { delivery, pieces, pulled, deliver, report } = begin(1);
  for (const code of [100, 100, 408, 100]) {
    await vi.advanceTimersByTimeAsync(4_000);
    report(code, 'Idle Heartbeat or Request Timeout', code === 408 ? 1 : 0);
  }
  expect(pulled).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(4_000);
  deliver(1);
  // The reader does not come.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(delivery.reason()).toBeNull();
  expect(await read(pieces)).toEqual([1]);
  const next = read(pieces);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(delivery.reason()).toBeNull();
  await vi.advanceTimersByTimeAsync(1);
  expect([delivery.reason(), await next]).toEqual(['consumer: silent', 'end']);
});
