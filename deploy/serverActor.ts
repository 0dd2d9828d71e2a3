import { fromCallback } from 'xstate';
import type { Listener } from '../http/server/listener.ts';
import { type PortEvent, serverMachine } from '../machines/serverMachine.ts';

/** The machine of an HTTP server, on a port of its own: 0 for any free one. */
export function createServerActor(server: Listener, host: string, port: number): typeof serverMachine {
  return serverMachine.provide({
    actors: {
      port: fromCallback(({ sendBack }: { sendBack: (event: PortEvent) => void }) => {
        let isCancelled = false;
        server.listen(host, port).then(
          (bound) => {
            if (isCancelled) server.close();
            else sendBack({ type: 'bound', port: bound });
          },
          (error: unknown) => {
            if (!isCancelled) sendBack({ type: 'refused', error });
          },
        );
        return () => {
          isCancelled = true;
          server.close();
        };
      }),
    },
  });
}
