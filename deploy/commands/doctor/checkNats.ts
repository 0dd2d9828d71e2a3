import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { streamNames, streamSubjects } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import { type Finding, failed, ok } from './finding.ts';

/** Checks version, JetStream, the streams, and their consumers. */
export async function checkNats(connection: NatsConnection, jsm: JetStreamManager): Promise<Finding[]> {
  const { version } = connection.info ?? { version: 'unknown' };
  const findings = [ok('NATS', `${connection.getServer()}, version ${version}`)];
  try {
    const { storage, streams } = await jsm.getAccountInfo();
    findings.push(ok('JetStream', `${streams} streams, ${Math.round(storage / 2 ** 20)} MiB stored`));
  } catch (error) {
    const remedy = 'start nats-server with JetStream (`jetstream {}` in its configuration, or -js)';
    return [...findings, failed('JetStream', readErrorMessage(error), remedy)];
  }
  for (const stream of streamNames) findings.push(await checkStream(jsm, stream));
  return findings;
}

async function checkStream(jsm: JetStreamManager, stream: (typeof streamNames)[number]): Promise<Finding> {
  const name = `stream ${stream}`;
  try {
    const { config, state } = await jsm.streams.info(stream);
    const missing = streamSubjects[stream].filter((subject) => !config.subjects?.includes(subject));
    if (missing.length > 0) {
      return failed(
        name,
        `does not hold ${missing.join(', ')}`,
        'start the service once: it updates the stream',
      );
    }
    const consumers = await jsm.consumers.list(stream).next();
    const lags = consumers.map((consumer) => `${consumer.name} ${consumer.num_pending} behind`);
    const readers = lags.length === 0 ? 'no consumers at the moment' : lags.join(', ');
    return ok(name, `messages ${state.first_seq} to ${state.last_seq}, ${readers}`);
  } catch (error) {
    return failed(name, readErrorMessage(error), 'start the service once: it creates the stream');
  }
}
