import {
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { closeNats, createJetStreamPort } from '../../../streams/nats/jetStreamPort.ts';
import type { StreamPort } from '../../../streams/nats/streamPort.ts';
import { type RestartableServer, startProcess, startRestartable, untilReady } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { temporaryDirectory, whenFinished } from './lifetime.ts';
import { writeNatsConfiguration } from './natsConfiguration.ts';

/** A real nats-server with JetStream for one test. */
interface TestNats extends RestartableServer {
  readonly url: string;
  readonly dir: string;
}

/**
 * @param settings further lines of its configuration.
 * @param jetStream further settings of JetStream.
 */
export async function startNats(
  dir = temporaryDirectory(),
  settings = '',
  jetStream = '',
): Promise<TestNats> {
  const port = await findFreePort();
  const url = `nats://127.0.0.1:${port}`;
  const configuration = writeNatsConfiguration(dir, port, settings, jetStream);
  const run = async () => {
    const server = startProcess('nats-server', ['-c', configuration], {
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    });
    const answers = async () => {
      const connection = await connect({ servers: url, timeout: 1_000, reconnect: false });
      try {
        await (await jetstreamManager(connection)).getAccountInfo();
      } finally {
        await closeNats(connection);
      }
      return true;
    };
    await untilReady(server, answers, `nats-server on ${url}`);
    return server;
  };
  return Object.assign(await startRestartable(run), { url, dir });
}

export interface TestConnection {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** The same connection, as the program uses it. */
  readonly jetStream: StreamPort;
}

/** Opens a connection to one of the servers at an address, which is closed when the test has finished. */
export async function connectTo({ url }: { readonly url: string }): Promise<TestConnection> {
  const servers = url.split(',');
  const connection = await connect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  whenFinished(() => closeNats(connection));
  return {
    connection,
    js: jetstream(connection),
    jsm: await jetstreamManager(connection),
    jetStream: await createJetStreamPort(connection),
  };
}

/** All messages that a stream holds, optionally from a sequence on, in order and by one request. */
export async function fetchMessages(
  { js, jsm }: Pick<TestConnection, 'js' | 'jsm'>,
  stream: string,
  from = 1,
): Promise<JsMsg[]> {
  const { state } = await jsm.streams.info(stream);
  const expected = Math.min(state.messages, state.last_seq - from + 1);
  if (expected <= 0) return [];
  const consumer = await js.consumers.get(stream, { opt_start_seq: from });
  const messages: JsMsg[] = [];
  for await (const message of await consumer.fetch({ max_messages: expected })) messages.push(message);
  await consumer.delete();
  return messages;
}

/** Sequences of a stream's rejected messages with their reasons, in the order of their publication. */
export async function readRejections(nats: TestConnection, stream: string) {
  const messages = await fetchMessages(nats, 'MINER_REJECTED');
  return messages
    .filter(({ subject }) => subject === `miner.rejected.${stream}`)
    .map((message) => {
      const { sequence, reason } = message.json<{ sequence: number; reason: string }>();
      return { sequence, reason };
    });
}
