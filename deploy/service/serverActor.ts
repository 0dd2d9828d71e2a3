import { fromCallback } from 'xstate';
import type { Listener } from '../../http/server/engine/listener.ts';
import type { ServerEvent, ServerName } from '../../machines/serviceMachine.ts';

/** Creates the actor of an HTTP server on a port; 0 is any free one. */
export function createServerActor(server: Listener, host: string, port: number) {
  return fromCallback<{ type: 'leave' }, ServerName>(({ sendBack, receive, input }) => {
    const report = (event: ServerEvent) => sendBack(event);
    let isCancelled = false;
    receive(() => server.leave());
    server.listen(host, port).then(
      (bound) => {
        if (isCancelled) server.close();
        else report({ type: 'bound', server: input, port: bound });
      },
      (error: unknown) => {
        if (!isCancelled) report({ type: 'faulted', error });
      },
    );
    return () => {
      isCancelled = true;
      server.close();
    };
  });
}
