import type { ListenSocket, TemplatedApp } from 'uWebSockets.js';
import { closeListenSocket, portOfSocket } from './uws.ts';

export class PortUnavailable extends Error {
  override readonly name = 'PortUnavailable';

  /** @param setting the variable that names the port, where it is known. */
  constructor(host: string, port: number, setting = 'the port') {
    super(
      `cannot listen on ${host}:${port}: it is taken or not permitted; set ${setting} to another one, or to 0 for any`,
    );
  }
}

export interface Listener {
  /**
   * @param port 0 for any free one.
   * @returns the port.
   * @throws PortUnavailable
   */
  listen(host: string, port: number): Promise<number>;
  /** The process is about to end: clients are asked to open their next connection elsewhere. */
  leave(): void;
  /** Accepts no new connection, and ends reads that are in progress. */
  close(): void;
}

/** Another process on the same port is an error, unless the configuration says that it shares the connections. */
const [sharedPort, exclusivePort] = [0, 1] as const;

interface ListenerOptions {
  /** Other processes may listen on the same port; they may not, unless it is set. */
  readonly isPortShared?: boolean;
  readonly onLeave?: () => void;
  readonly onClose?: () => void;
}

export function listenOn(app: TemplatedApp, options: ListenerOptions = {}): Listener {
  const { isPortShared = false, onLeave = () => undefined, onClose = () => undefined } = options;
  let socket: ListenSocket | null = null;
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        const sharing = isPortShared ? sharedPort : exclusivePort;
        app.listen(host, port, sharing, (token) => {
          if (token === false) return reject(new PortUnavailable(host, port));
          socket = token;
          resolve(portOfSocket(token));
        });
      }),
    leave: onLeave,
    close: () => {
      onLeave();
      onClose();
      if (socket !== null) closeListenSocket(socket);
      socket = null;
    },
  };
}
