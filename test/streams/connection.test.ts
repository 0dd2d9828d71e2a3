import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Socket } from 'node:net';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NatsEvent } from '../../machines/serviceMachine.ts';
import { connectNats } from '../../streams/nats/connection.ts';
import { closeNats } from '../../streams/nats/jetStreamPort.ts';
import { createNatsLink } from '../../streams/nats/natsLink.ts';
import { collectLines } from '../support/collectLines.ts';
import { eventually } from '../support/processes/lifetime.ts';
import { listenHere } from '../support/processes/listenHere.ts';
import { startNats } from '../support/processes/natsServer.ts';

const info = { server_id: 'ending', proto: 1, headers: true, max_payload: 1_048_576 };

/** The part of a NATS server without JetStream that a client needs to connect; it ends its side of the connection on demand. */
async function startEndingServer(version = '2.10.0') {
  const sockets: Socket[] = [];
  let noteClosed: () => void;
  const closed = new Promise<void>((resolve) => {
    noteClosed = resolve;
  });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('end', () => noteClosed());
    socket.on('error', () => undefined);
    socket.on('data', (text) => {
      if (text.includes('PING')) socket.write('PONG\r\n');
      const [, inbox] = /PUB \$JS\.API\.INFO (\S+)/.exec(text.toString()) ?? [];
      if (inbox !== undefined) socket.write(`HMSG ${inbox} 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n`);
    });
    socket.write(`INFO ${JSON.stringify({ ...info, version })}\r\n`);
  });
  const port = await listenHere(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { url: `nats://127.0.0.1:${port}`, end: () => sockets.at(-1)?.end(), closed };
}

/** The socket that this process opens next. */
function nextClientSocket(): Promise<Socket> {
  return new Promise((resolve) => {
    const note = (message: unknown) => {
      unsubscribe('net.client.socket', note);
      resolve((message as { socket: Socket }).socket);
    };
    subscribe('net.client.socket', note);
  });
}

/** Resolves when the client ends its side of the socket, too. */
function waitForEnd(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const end = socket.end.bind(socket);
    socket.end = () => {
      end();
      resolve();
      return socket;
    };
  });
}

describe('opening a connection', () => {
  it.each([
    ['2.9.10', 1],
    ['1.4.1', 1],
    ['2.10.0', 0],
    ['2.12.1', 0],
    ['3.0.0', 0],
  ])('warns of NATS version %s so many times: %i', async (version, warnings) => {
    const { url } = await startEndingServer(version);
    const { lines, logger } = collectLines('warn');
    const { signal } = new AbortController();
    await (await connectNats({ url, name: 'test', logger, signal })).close();
    expect(lines).toHaveLength(warnings);
  });
});

it('closing a connection survives a write to an ended socket', async () => {
  const server = await startEndingServer();
  const uncaught: unknown[] = [];
  const listener = (error: unknown) => uncaught.push(error);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', listener);
  onTestFinished(() => {
    process.off('uncaughtException', listener);
    for (const other of others) process.on('uncaughtException', other);
  });

  for (let round = 0; round < 50; round++) {
    const socket = nextClientSocket();
    const connection = await connect({
      servers: server.url,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 60_000,
    });
    await connection.flush();
    const ended = waitForEnd(await socket);
    server.end();
    await ended;
    connection.publish('any', 'thing');
    for (let tick = 0; tick < round % 7; tick++) await null;
    await closeNats(connection);
  }
  expect(uncaught).toEqual([]);
});

describe('the connection of a process', () => {
  /** Connects to a server that may not be there. `said` returns the warnings. */
  function link(url: string) {
    const { lines, logger } = collectLines('warn');
    const events: NatsEvent[] = [];
    const opened = createNatsLink({ url, name: 'test', logger });
    const subscription = opened.changes$.subscribe((event) => events.push(event));
    const close = async () => {
      subscription.unsubscribe();
      await opened.close();
    };
    onTestFinished(close);
    return { ...opened, events, subscription, close, said: () => lines.map(({ msg }) => msg) };
  }

  it('is attempted until a server answers, and shows losses and reconnections', async () => {
    const nats = await startNats();
    await nats.kill();
    const { said, events, jetStream } = link(nats.url);
    await eventually(() => said().length > 0, 'a failed attempt');
    expect(said()).toEqual(['NATS is not available yet; retrying']);
    expect(jetStream).toThrow('the connection to NATS is missing');
    await nats.start();
    await eventually(() => events.length === 1, 'the connection');
    expect((await jetStream().account()).streams).toBe(0);
    await nats.kill();
    await eventually(() => events.length === 2, 'the loss');
    await nats.start();
    await eventually(() => events.length === 3, 'the reconnection');
    expect(events.map(({ isConnected }) => isConnected)).toEqual([true, false, true]);
  });

  it('waits for a server that has no JetStream yet', async () => {
    const { url, closed } = await startEndingServer();
    const { said, events, close } = link(url);
    await eventually(() => said().length > 0, 'a failed attempt');
    expect([said(), events]).toEqual([['JetStream is not available yet; retrying'], []]);
    await close();
    await closed;
  });

  it('is closed again if nobody waits for it any more', async () => {
    const { url, closed } = await startEndingServer();
    const { events, subscription } = link(url);
    subscription.unsubscribe();
    await closed;
    expect(events).toEqual([]);
  });
});
