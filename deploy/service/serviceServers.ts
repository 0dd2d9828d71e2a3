import { fromCallback } from 'xstate';
import type { Readiness } from '../../actors/views/readiness.ts';
import type { RouteSources } from '../../http/routes/route.ts';
import type { Listener } from '../../http/server/engine/listener.ts';
import { createOperatorServer } from '../../http/server/operatorServer.ts';
import { createPublicServer } from '../../http/server/publicServer.ts';
import { createAccessLog } from '../../http/server/requests/answeredRequest.ts';
import type { ServerEvent, ServerName } from '../../machines/serviceMachine.ts';
import type { Finding } from '../diagnosis/finding.ts';
import type { ServiceContext } from './serviceContext.ts';
import { createViewsCheck } from './serviceReadiness.ts';

/** Creates the server of the operators, and of the public unless the process does not serve. */
export function createServers(context: ServiceContext, sources: RouteSources, readiness: () => Readiness) {
  const { settings, state, database, nats, clock, logger, registry } = context;
  const operatorServer = createOperatorServer({
    registry,
    readiness,
    diagnose: async () => {
      const { inspectDatabase } = await import('../diagnosis/inspectDatabase.ts');
      const jetStream = state.isNatsConnected() ? nats.jetStream() : null;
      const drifts = state.work()?.drifts() ?? [];
      const findings: Finding[] = [];
      for await (const finding of inspectDatabase({ ...settings, database, jetStream, drifts }))
        findings.push(finding);
      return { findings };
    },
    logger,
    names: settings.opsNames,
  });
  if (!settings.roles.serve) return { operatorServer, publicServer: null };
  const publicServer = createPublicServer({
    sources,
    hasViews: createViewsCheck(context),
    readiness,
    ...(settings.accessLogOneOf > 0 && { onAnswered: createAccessLog(logger, settings.accessLogOneOf) }),
    clock,
    logger,
    registry,
    settings: settings.http,
  });
  return { operatorServer, publicServer };
}

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
