import { connect, createServer, type Socket } from 'node:net';
import { whenFinished } from './lifetime.ts';
import { listenHere } from './listenHere.ts';

/**
 * Starts a TCP proxy that fails on demand, in front of `http://127.0.0.1:port`, with or without a database, or `nats://127.0.0.1:port`.
 */
export async function startCuttingProxy(targetUrl: string) {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  const silenced = new WeakSet<Socket>();
  let [toCut, isHeld, isRefusing, isHalvingNext, port] = [0, false, false, false, Number(target.port)];
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy = {
    url: '',
    cuts: 0,
    /** Number of connections from clients so far. */
    accepted: 0,
    /** Number of connections from clients that are open. */
    open: 0,
    /** Cuts the connection instead of forwarding each of the next `count` answers. Requests are forwarded completely. */
    cutAnswers: (count: number) => {
      toCut = count;
    },
    /** Cuts all connections. */
    cut,
    /** Forwards later connections to another port of this machine. */
    moveTo: (later: number) => {
      port = later;
    },
    /** While held, accepts connections and forwards no requests. */
    hold: (value: boolean) => {
      isHeld = value;
    },
    /** While refusing, cuts every connection, also a new one. */
    refuse: (value: boolean) => {
      isRefusing = value;
      if (value) cut();
    },
    /** The present connections stay open and forward nothing more, as if their other end were gone. New ones work. */
    silence: () => {
      for (const socket of sockets) silenced.add(socket);
    },
    /** Forwards half of the next answer, and nothing more on its connection, which stays open. */
    silenceWithinAnswer: () => {
      isHalvingNext = true;
    },
  };
  const server = createServer((client) => {
    proxy.accepted++;
    if (isRefusing) {
      client.destroy();
      return;
    }
    proxy.open++;
    client.on('close', () => proxy.open--);
    const upstream = connect(port, target.hostname);
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
      if (!isHeld && !silenced.has(client)) upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (silenced.has(client)) return;
      if (isHalvingNext) {
        isHalvingNext = false;
        client.write(chunk.subarray(0, chunk.length / 2));
        silenced.add(client);
      } else if (toCut === 0) client.write(chunk);
      else {
        toCut--;
        proxy.cuts++;
        client.destroy();
      }
    });
  });
  const ownPort = await listenHere(server);
  whenFinished(cut);
  proxy.url = `${target.protocol}//127.0.0.1:${ownPort}${target.pathname.replace(/\/$/, '')}`;
  return proxy;
}
