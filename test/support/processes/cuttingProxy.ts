import { connect, createServer, type Socket } from 'node:net';
import { whenFinished } from './lifetime.ts';

/** A TCP proxy that fails on demand. */
interface CuttingProxy {
  readonly url: string;
  /** Cuts the connection instead of forwarding each of the next `count` answers. Requests are forwarded completely. */
  cutAnswers(count: number): void;
  /** While held, accepts connections and forwards no requests. */
  hold(isHeld: boolean): void;
  readonly cuts: number;
  /** Answers forwarded on the newest connection so far. */
  readonly answered: string;
}

/** Starts a proxy in front of `http://127.0.0.1:port`, with or without a database, or `nats://127.0.0.1:port`. */
export async function startCuttingProxy(targetUrl: string): Promise<CuttingProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  const state = { toCut: 0, cuts: 0, isHeld: false, answered: '' };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
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
      if (!state.isHeld) upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
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
    hold: (isHeld) => {
      state.isHeld = isHeld;
    },
    get cuts() {
      return state.cuts;
    },
    get answered() {
      return state.answered;
    },
  };
}
