import type { Readiness } from '../../actors/views/readiness.ts';
import type { RouteSources } from '../../http/routes/route.ts';
import { createOperatorServer } from '../../http/server/operatorServer.ts';
import { createPublicServer } from '../../http/server/publicServer.ts';
import { createAccessLog } from '../../http/server/requests/answeredRequest.ts';
import type { ServiceContext } from './serviceContext.ts';
import { createViewsCheck } from './serviceReadiness.ts';

/** Creates the server of the operators, and of the public unless the process does not serve. */
export function createServers(context: ServiceContext, sources: RouteSources, readiness: () => Readiness) {
  const { settings, state, database, nats, clock, logger, registry } = context;
  const operatorServer = createOperatorServer({
    registry,
    readiness,
    diagnose: async (isQuick) => {
      const { inspectDatabase } = await import('../diagnosis/inspectDatabase.ts');
      const jetStream = state.isNatsConnected() ? nats.jetStream() : null;
      const drifts = state.work()?.drifts() ?? [];
      return {
        findings: await inspectDatabase({ ...settings, database, jetStream, isQuick, drifts }),
      };
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
