import { type JetStreamClient, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** A message counts with its subject, its headers and the subject for its acknowledgement, of which the last two are not in the server's `max_payload`. */
const envelopeBytes = 64 * 1024;

/**
 * JetStream whose requests for messages are bounded in bytes too: the server ends a request at the bound that is met first. The client's own options allow
 * only one bound, so the other is added to its requests here.
 *
 * @param bytes of one request, or as many as the server's largest message has.
 */
export function boundPulls(connection: NatsConnection, js: JetStreamClient, bytes: number): JetStreamClient {
  const maxBytes = Math.max(bytes, connection.info?.max_payload ?? 0) + envelopeBytes;
  const publish: NatsConnection['publish'] = (subject, payload, options) => {
    const isPull = typeof payload === 'string' && subject.includes('.CONSUMER.MSG.NEXT.');
    connection.publish(subject, isPull ? addBound(payload, maxBytes) : payload, options);
  };
  const bounded = new Proxy(connection, {
    get: (target, name) => {
      if (name === 'publish') return publish;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return jetstream(bounded, js.getOptions());
}

function addBound(request: string, maxBytes: number): string {
  return JSON.stringify({ ...JSON.parse(request), max_bytes: maxBytes });
}
