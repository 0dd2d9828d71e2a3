import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect as connectSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { spanBytesMax } from '../../actors/chain/spans/chainSpan.ts';
import { closeNats } from '../../streams/nats/connection.ts';
import { readNatsAccess } from '../../streams/nats/natsAccess.ts';

export interface Target {
  readonly publicUrl: string;
  readonly natsUrl: string;
  readonly dir: string;
}

export interface Attack {
  readonly name: string;
  /** Attacks for that many seconds, and resolves when nothing is left. */
  run(target: Target, seconds: number): Promise<void>;
}

const documentPath = '/docs/swagger-ui-bundle.js';
const unreadConnections = 16;

export const attacks: readonly Attack[] = [
  { name: 'none', run: (_, seconds) => passSeconds(seconds) },
  {
    name: '16 connections send 700 requests each for a document, and do not read',
    run: sendUnread(pipeline(documentPath, 700)),
  },
  {
    name: '16 connections send 20,000 requests each for a route, and do not read',
    run: sendUnread(pipeline('/v1/public/telemetry', 20_000)),
  },
  { name: 'one client, as fast as it can', run: flood('/v1/status', '192.0.2.1') },
  { name: 'a /64 with a new address each time', run: flood('/v1/status', '2001:db8:1:2::%x') },
  { name: 'pages of 100 events, a new site each time', run: flood('/v1/events?limit=100', '2001:%x:%x::1') },
  {
    name: 'old observations, a new site each time',
    run: flood('/v1/public/installations/wheel.local/observations', '2001:%x:%x::1'),
  },
  {
    name: 'made-up installations, a new site each time',
    run: flood('/v1/public/installations/made.up.%x/observations', '2001:%x:%x::1'),
  },
  { name: 'a route, a new site each time', run: flood('/v1/status', '2001:%x:%x::1') },
  { name: '6,000 event streams of one /48', run: openStreams },
  {
    name: 'requests with two lengths',
    run: sendUnread('GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n'),
  },
  { name: 'spans with thousands of empty blocks', run: publishBombs },
];

function passSeconds(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}

function pipeline(path: string, count: number): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(count);
}

function openSocket({ publicUrl }: Target): Socket {
  const { hostname, port } = new URL(publicUrl);
  return connectSocket(Number(port), hostname).on('error', () => undefined);
}

/** Opens connections that send and never read, and replaces closed ones. */
function sendUnread(text: string) {
  return async (target: Target, seconds: number): Promise<void> => {
    const sockets = new Set<Socket>();
    let isOver = false;
    const open = () => {
      if (isOver) return;
      const socket = openSocket(target);
      socket.pause();
      sockets.add(socket);
      // A connection that waits for space to write notices its end only by writing.
      const writing = setInterval(() => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), 100);
      socket.on('close', () => {
        clearInterval(writing);
        sockets.delete(socket);
        setTimeout(open, 5);
      });
      socket.write(text);
    };
    for (let index = 0; index < unreadConnections; index++) open();
    await passSeconds(seconds);
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
}

/** @param address of the client; each `%x` in it and in the path becomes another number each time. */
function flood(path: string, address: string) {
  return async ({ publicUrl, dir }: Target, seconds: number): Promise<void> => {
    const script = join(dir, 'flood.lua');
    const fill = (text: string) =>
      `string.format(${JSON.stringify(text)}${', math.random(0, 65535)'.repeat(text.split('%x').length - 1)})`;
    writeFileSync(
      script,
      `request = function()\n  return wrk.format("GET", ${fill(path)}, {["X-Forwarded-For"] = ${fill(address)}})\nend\n`,
    );
    const wrk = ['wrk', '-t1', '-c64', `-d${seconds}s`, '-s', script, publicUrl] as const;
    const [program, ...args] = wrk;
    const [status] = await once(spawn(program, args, { stdio: 'ignore' }), 'exit');
    if (status !== 0) throw new Error(`wrk ended with status ${status}`);
  };
}

async function openStreams(target: Target, seconds: number): Promise<void> {
  const sockets: Socket[] = [];
  for (let index = 0; index < 6_000; index++) {
    const socket = openSocket(target);
    socket.resume();
    const address = `2001:db8:1:${(index % 0xffff).toString(16)}::1`;
    socket.write(`GET /v1/events/stream HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`);
    sockets.push(socket);
    if (index % 100 === 99) await passSeconds(0.01);
  }
  await passSeconds(seconds);
  for (const socket of sockets) socket.destroy();
}

async function publishBombs({ natsUrl }: Target, seconds: number): Promise<void> {
  const connection = await connect(readNatsAccess({ url: natsUrl }));
  const bomb = `{"blocks":[${'{},'.repeat(Math.floor(spanBytesMax / 3) - 20)}{}]}`;
  for (let second = 0; second < seconds; second++) {
    for (let index = 0; index < 5; index++) connection.publish('miner.chain.31337.span', bomb);
    await passSeconds(1);
  }
  await closeNats(connection);
}
