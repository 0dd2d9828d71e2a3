import { fromCallback } from 'xstate';
import type { Listener } from '../../http/server/engine/listener.ts';
import { type PortEvent, serverMachine } from '../../machines/serverMachine.ts';

/** Creates the machine of an HTTP server on a port; 0 is any free one. */
export function createServerActor(server: Listener, host: string, port: number): typeof serverMachine {
  return serverMachine.provide({
    actors: {
      port: fromCallback<{ type: 'leave' }>(({ sendBack, receive }) => {
        const report = (event: PortEvent) => sendBack(event);
        let isCancelled = false;
        receive(() => server.leave());
        server.listen(host, port).then(
          (bound) => {
            if (isCancelled) server.close();
            else report({ type: 'bound', port: bound });
          },
          (error: unknown) => {
            if (!isCancelled) report({ type: 'refused', error });
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
