import type { ListenSocket, TemplatedApp } from 'uWebSockets.js';
import { isIPv6 } from 'node:net';
import { OperatorError } from '../../../actors/operatorError.ts';
import { closeListenSocket, portOfSocket } from './uws.ts';

/** @returns host and port as in a URL, such as `127.0.0.1:8080` or `[::]:8080`. */
export function formatAuthority(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

export class PortUnavailable extends OperatorError {
  /** @param setting the variable that sets the port, if it is known. */
  constructor(host: string, port: number, setting = 'the port') {
    super(
      `cannot listen on ${formatAuthority(host, port)}: it is taken or not permitted; set ${setting} to another one, or to 0 for any`,
    );
  }
}

export type Listener = ReturnType<typeof listenOn>;

/** Option of uWebSockets.js: no other process may listen on the same port. */
const exclusivePort = 1;

interface ListenerOptions {
  readonly onLeave?: () => void;
  readonly onClose?: () => void;
}

export function listenOn(app: TemplatedApp, options: ListenerOptions = {}) {
  const { onLeave = () => undefined, onClose = () => undefined } = options;
  let socket: ListenSocket | null = null;
  return {
    /**
     * @param port 0 for any free port.
     * @returns the port that it listens on.
     * @throws PortUnavailable
     */
    listen: (host: string, port: number) =>
      new Promise<number>((resolve, reject) => {
        app.listen(host, port, exclusivePort, (token) => {
          if (token === false) return reject(new PortUnavailable(host, port));
          socket = token;
          resolve(portOfSocket(token));
        });
      }),
    /** Asks clients to open their next connection elsewhere, since the process is about to end. */
    leave: onLeave,
    /** Accepts no new connection, and aborts reads in progress. */
    close: () => {
      onLeave();
      onClose();
      if (socket !== null) closeListenSocket(socket);
      socket = null;
    },
  };
}
