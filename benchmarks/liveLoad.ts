// Its own process, so that the load does not delay the measurement: `node dist/tools/liveLoad.js TASK`. Prints a line once all clients are connected.
import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { counterSubject } from '../actors/messages/subjects.ts';
import { readNatsAccess } from '../streams/nats/natsAccess.ts';
import { genesisMs, readingBody } from './readingLoad.ts';

export interface LiveTask {
  readonly natsUrl: string;
  readonly publicUrl: string;
  readonly installations: number;
  /** Seconds from a reading of a wheel to its next one. */
  readonly everySeconds: number;
  /** Clients with a request per second each. */
  readonly pollers: number;
  readonly listeners: number;
}

const secondMs = 1_000;
/** Readings and requests are spread over this many parts of a second. */
const partsOfSecond = 250;
const pollRequest = 'GET /v4/public/process HTTP/1.1\r\nHost: bench\r\n\r\n';
const listenRequest = 'GET /v1/events/stream HTTP/1.1\r\nHost: bench\r\n\r\n';

const task = JSON.parse(process.argv[2] ?? '') as LiveTask;
const connection = await connect(readNatsAccess({ url: task.natsUrl }));
const pollers = await openSockets(task.publicUrl, task.pollers);
await openSockets(task.publicUrl, task.listeners, listenRequest);
startSpread(task.pollers, (index) => pollers[index]?.write(pollRequest));
startReadings(connection, task);
process.stdout.write('all clients are connected\n');

/** @param request sent at once: the service closes a connection that is idle. */
async function openSockets(base: string, count: number, request = ''): Promise<Socket[]> {
  const { hostname, port } = new URL(base);
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connectSocket(Number(port), hostname);
    await once(socket, 'connect');
    if (request !== '') socket.write(request);
    // A refused or closed connection would make the load smaller than stated.
    socket.once('data', (answer) => {
      if (!answer.includes('HTTP/1.1 200 OK')) process.exit(1);
    });
    socket.resume();
    socket.on('close', () => process.exit(1));
    sockets.push(socket);
  }
  return sockets;
}

function startReadings(nats: NatsConnection, { installations, everySeconds }: LiveTask) {
  const sent = new Array<number>(installations).fill(0);
  const send = (installation: number) => {
    const id = `wheel-of-load-${installation}`;
    const index = sent[installation] ?? 0;
    sent[installation] = index + 1;
    nats.publish(counterSubject(id), readingBody(id, index, genesisMs + index * everySeconds * secondMs));
  };
  startSpread(installations, send, everySeconds);
}

/** Calls `act` for each index once in `seconds`, spread over them. */
function startSpread(count: number, act: (index: number) => void, seconds = 1) {
  const parts = partsOfSecond * seconds;
  const startedMs = performance.now();
  let done = 0;
  setInterval(() => {
    // A late turn does the work of those that it missed.
    for (const due = ((performance.now() - startedMs) * partsOfSecond) / secondMs; done < due; done++)
      for (let index = done % parts; index < count; index += parts) act(index);
  }, secondMs / partsOfSecond);
}
