import { connect, createServer, type Socket } from 'node:net';
import { whenFinished } from './lifetime.ts';

/** A TCP proxy that fails on demand. */
interface CuttingProxy {
  readonly url: string;
  /** Cuts the connection instead of forwarding each of the next `count` answers. Requests are forwarded completely. */
  cutAnswers(count: number): void;
  /** Cuts all connections. */
  cut(): void;
  /** Forwards later connections to another port of this machine. */
  moveTo(port: number): void;
  /** While held, accepts connections and forwards no requests. */
  hold(isHeld: boolean): void;
  /** While refusing, cuts every connection, also a new one. */
  refuse(isRefusing: boolean): void;
  /** The present connections stay open and forward nothing more, as if their other end were gone. New ones work. */
  silence(): void;
  /** Forwards half of the next answer, and nothing more on its connection, which stays open. */
  silenceWithinAnswer(): void;
  readonly cuts: number;
  /** Number of connections from clients so far. */
  readonly accepted: number;
  /** Number of connections from clients that are open. */
  readonly open: number;
  /** Answers forwarded on the newest connection so far. */
  readonly answered: string;
}

/** Starts a proxy in front of `http://127.0.0.1:port`, with or without a database, or `nats://127.0.0.1:port`. */
export async function startCuttingProxy(targetUrl: string): Promise<CuttingProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  const silenced = new WeakSet<Socket>();
  const state = {
    toCut: 0,
    cuts: 0,
    isHeld: false,
    isRefusing: false,
    isHalvingNext: false,
    answered: '',
    accepted: 0,
    open: 0,
    port: Number(target.port),
  };
  const server = createServer((client) => {
    state.accepted++;
    if (state.isRefusing) {
      client.destroy();
      return;
    }
    state.open++;
    client.on('close', () => state.open--);
    const upstream = connect(state.port, target.hostname);
    state.answered = '';
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (!state.isHeld && !silenced.has(client)) upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (silenced.has(client)) return;
      if (state.isHalvingNext) {
        state.isHalvingNext = false;
        client.write(chunk.subarray(0, chunk.length / 2));
        silenced.add(client);
        return;
      }
      if (state.toCut === 0) {
        client.write(chunk);
        state.answered += chunk;
        return;
      }
      state.toCut--;
      state.cuts++;
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  whenFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address() as { port: number };
  return {
    url: `${target.protocol}//127.0.0.1:${address.port}${target.pathname.replace(/\/$/, '')}`,
    cutAnswers: (count) => {
      state.toCut = count;
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    moveTo: (port) => {
      state.port = port;
    },
    hold: (isHeld) => {
      state.isHeld = isHeld;
    },
    refuse: (isRefusing) => {
      state.isRefusing = isRefusing;
      if (isRefusing) for (const socket of sockets) socket.destroy();
    },
    silence: () => {
      for (const socket of sockets) silenced.add(socket);
    },
    silenceWithinAnswer: () => {
      state.isHalvingNext = true;
    },
    get cuts() {
      return state.cuts;
    },
    get accepted() {
      return state.accepted;
    },
    get open() {
      return state.open;
    },
    get answered() {
      return state.answered;
    },
  };
}
