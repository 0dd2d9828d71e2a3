import type { ClientSide, ServerSide } from '../world/currentWorld.ts';
import { type ClientCommand, createCommandReader, matchesSubject } from './clientCommands.ts';
import { answerApi } from './jetStreamApi.ts';
import { consumerKey, createJetStreamStore, type StoreOptions } from './jetStreamStore.ts';
import type { PullRecipient } from './pullConsumers.ts';

/** Fate of a request. `unanswered`: done without an answer. `lost`: not received. `cut`: done, and the connection cut. */
export type Fate = 'answered' | 'unanswered' | 'lost' | 'cut';

interface NatsServerOptions extends StoreOptions {
  /** Latency of one direction. */
  readonly latencyMs: () => number;
  /** Decides the fate of a request to JetStream or a message for a stream. */
  readonly fateOf?: () => Fate;
}

/** The part of nats-server with JetStream that the service and its publishers use. */
export type SimulatedNats = ReturnType<typeof createSimulatedNats>;

interface Subscription {
  readonly subject: string;
  readonly sid: string;
  left: number;
}

interface Connection {
  readonly subscriptions: Map<string, Subscription>;
  send(bytes: Buffer): void;
  close(): void;
}

/** Below the default, so that moderately large logs do not fit into a message. */
export const payloadBytesMax = 64 * 1024;
const apiPrefix = '$JS.API.';
const pullPrefix = 'CONSUMER.MSG.NEXT.';

export function createSimulatedNats(options: NatsServerOptions) {
  const { schedule, latencyMs, fateOf = () => 'answered' } = options;
  const store = createJetStreamStore(options);
  const connections = new Set<Connection>();
  let isUp = true;

  /** Sends a message to its subscribers; true if it has any. */
  function route(subject: string, reply: string | null, headers: Buffer | null, data: Buffer): boolean {
    let isHeard = false;
    for (const connection of connections) {
      for (const subscription of connection.subscriptions.values()) {
        if (!matchesSubject(subscription.subject, subject)) continue;
        isHeard = true;
        sendMessage(connection, subscription, { subject, reply, headers, data });
      }
    }
    return isHeard;
  }

  function answer(reply: string | null, body: object) {
    if (reply !== null) route(reply, null, null, Buffer.from(JSON.stringify(body)));
  }

  function publish(from: Connection, command: Extract<ClientCommand, { kind: 'publish' }>) {
    const { subject, reply, headers, data } = command;
    const isApi = subject.startsWith(apiPrefix);
    const stream = isApi ? null : store.findBySubject(subject);
    if (!isApi && stream === null) {
      const isHeard = route(subject, reply, headers, data);
      if (!isHeard && reply !== null) sendStatus(reply, '503');
      return;
    }
    const fate = fateOf();
    if (fate === 'lost') return;
    const tell = (body: object) => {
      if (fate === 'answered') answer(reply, body);
    };
    if (stream !== null) {
      tell(store.publish(stream, subject, headers, data));
      route(subject, reply, headers, data);
    } else if (subject.startsWith(apiPrefix + pullPrefix)) pull(subject, reply, data);
    else tell(answerApi(store, subject.slice(apiPrefix.length).split('.'), data));
    if (fate === 'cut') from.close();
  }

  function pull(subject: string, reply: string | null, data: Buffer) {
    const [stream = '', name = ''] = subject.slice(apiPrefix.length + pullPrefix.length).split('.');
    const consumer = store.consumers.get(consumerKey(stream, name));
    if (reply === null) return;
    // The server does not subscribe for a missing consumer, so nobody answers.
    if (consumer === undefined) return sendStatus(reply, '503');
    const {
      batch = 1,
      max_bytes: maxBytes = 0,
      expires = 0,
      idle_heartbeat: heartbeat = 0,
    } = JSON.parse(data.toString('utf8'));
    const request = { batch, maxBytes, expiresMs: expires / 1e6, heartbeatMs: heartbeat / 1e6 };
    consumer.pull(request, createRecipient(reply));
  }

  function createRecipient(inbox: string): PullRecipient {
    const find = () => {
      for (const connection of connections)
        for (const subscription of connection.subscriptions.values())
          if (matchesSubject(subscription.subject, inbox)) return { connection, subscription };
      return null;
    };
    return {
      isListening: () => find() !== null,
      deliver: (message, reply) => {
        const found = find();
        if (found !== null) sendMessage(found.connection, found.subscription, { ...message, reply });
      },
      status: (line, headers) => sendStatus(inbox, line, headers),
    };
  }

  function sendStatus(subject: string, line: string, headers: Readonly<Record<string, number>> = {}) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    route(subject, null, Buffer.from(`NATS/1.0 ${line}\r\n${lines.join('')}\r\n`), Buffer.alloc(0));
  }

  function handle(connection: Connection, command: ClientCommand) {
    switch (command.kind) {
      case 'ping':
        return connection.send(Buffer.from('PONG\r\n'));
      case 'subscribe':
        connection.subscriptions.set(command.sid, { ...command, left: Number.POSITIVE_INFINITY });
        return;
      case 'unsubscribe': {
        const subscription = connection.subscriptions.get(command.sid);
        if (command.max === null || subscription === undefined) connection.subscriptions.delete(command.sid);
        else subscription.left = command.max;
        return;
      }
      case 'publish':
        return publish(connection, command);
    }
  }

  /** Null while it is down. */
  function accept(client: ClientSide): ServerSide | null {
    if (!isUp) return null;
    let isOpen = true;
    let outbox: Buffer[] = [];
    let inbox: Buffer[] = [];
    const read = createCommandReader();
    const connection: Connection = {
      subscriptions: new Map(),
      send: (bytes) => {
        outbox.push(bytes);
        if (outbox.length > 1) return;
        schedule(latencyMs(), () => {
          const sent = Buffer.concat(outbox);
          outbox = [];
          if (isOpen) client.receive(sent);
        });
      },
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        connections.delete(connection);
        client.cut();
      },
    };
    connections.add(connection);
    const information = {
      server_id: 'SIMULATED',
      server_name: 'simulated',
      version: `2.${options.minorVersion}.0`,
      proto: 1,
      host: '127.0.0.1',
      port: 4222,
      headers: true,
      max_payload: payloadBytesMax,
      jetstream: true,
      client_id: connections.size,
    };
    connection.send(Buffer.from(`INFO ${JSON.stringify(information)}\r\n`));
    return {
      receive: (bytes) => {
        inbox.push(bytes);
        if (inbox.length > 1) return;
        schedule(latencyMs(), () => {
          const received = Buffer.concat(inbox);
          inbox = [];
          for (const command of read(received)) if (isOpen) handle(connection, command);
        });
      },
      closed: () => {
        isOpen = false;
        connections.delete(connection);
      },
    };
  }

  const cutConnections = () => {
    for (const connection of [...connections]) connection.close();
  };
  return {
    store,
    accept,
    /** Ends all connections and every consumer; the streams stay. */
    stop: () => {
      isUp = false;
      cutConnections();
      for (const key of [...store.consumers.keys()]) store.removeConsumer(key, false);
    },
    start: () => {
      isUp = true;
    },
    get isUp(): boolean {
      return isUp;
    },
    /** Cuts only the connections. */
    cutConnections,
  };
}

interface OutgoingMessage {
  readonly subject: string;
  readonly reply: string | null;
  readonly headers: Buffer | null;
  readonly data: Buffer;
}

function sendMessage(
  connection: Connection,
  subscription: Subscription,
  { subject, reply, headers, data }: OutgoingMessage,
) {
  const words = [subject, subscription.sid, ...(reply === null ? [] : [reply])];
  const [name, sizes] =
    headers === null ? ['MSG', [data.length]] : ['HMSG', [headers.length, headers.length + data.length]];
  const line = `${name} ${[...words, ...sizes].join(' ')}\r\n`;
  connection.send(Buffer.concat([Buffer.from(line), headers ?? Buffer.alloc(0), data, Buffer.from('\r\n')]));
  if (--subscription.left <= 0) connection.subscriptions.delete(subscription.sid);
}
