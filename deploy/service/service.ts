import { createActor, fromEventObservable, fromObservable, fromPromise, waitFor } from 'xstate';
import type { Readiness } from '../../actors/views/readiness.ts';
import { formatAuthority } from '../../http/server/engine/listener.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { createServiceMachine } from '../../machines/serviceMachine.ts';
import { watchChainConditions } from '../../streams/health/chainConditionWatch.ts';
import { watchDatabase } from '../../streams/health/databaseWatch.ts';
import { createActorTransitions } from '../../streams/operators/actorTransitions.ts';
import { runMembers } from '../../streams/operators/runMember.ts';
import type { StreamWork } from '../../streams/work/streamWork.ts';
import { createProcessState, type ServiceRoot } from './processState.ts';
import { createServiceContext, type ServiceOptions } from './serviceContext.ts';
import { registerServiceMetrics } from './serviceMetrics.ts';
import { createServiceReadiness, readConditions } from './serviceReadiness.ts';
import { createServerActor, createServers } from './serviceServers.ts';
import { createServiceViews } from './serviceViews.ts';
import { composeStreamWork } from './serviceWork.ts';

export interface Service {
  /** Null for a process that does not serve. */
  readonly publicUrl: string | null;
  readonly operatorUrl: string;
  readiness(): Readiness;
  /** Rejects if the service cannot continue: a fault of this program, or a database from a newer one. */
  readonly failed: Promise<never>;
  /**
   * Saves folded state and stops, normally at once, at the latest after about seven seconds. For `drainMs` before that it answers as before,
   * except that `/readyz` says that it is leaving.
   */
  stop(drainMs?: number): Promise<void>;
}

/**
 * Composes the running system. The ports answer at once; NATS, ClickHouse and the folded state follow as they become
 * available, and `/readyz` shows what is missing. `machines/serviceMachine.ts` decides what runs when, and what ends it.
 *
 * @throws DirectoryInUse
 * @throws PortUnavailable
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const state = createProcessState(() => root);
  const context = createServiceContext(options, state);
  const { settings, actors, database, nats, ingest, clock, logger, registry } = context;
  const sources = createServiceViews({ ...settings, actors, followers: state.work, clock });
  const { views } = sources;
  const readiness = createServiceReadiness(context, views);
  registerServiceMetrics(context, readiness);
  const conditions = () => readConditions(context, views);
  const conditions$ = watchChainConditions({ conditions, logger, registry });
  const { operatorServer, publicServer } = createServers(context, sources, readiness);
  const root: ServiceRoot = createActor(
    createServiceMachine<StreamWork>(publicServer !== null).provide({
      actors: {
        operatorServer: createServerActor(operatorServer, settings.opsHost, settings.opsPort),
        ...(publicServer !== null && {
          publicServer: createServerActor(publicServer, settings.host, settings.httpPort),
        }),
        nats: fromEventObservable(() => nats.changes$),
        group: runMembers,
        databaseWatch: fromObservable(() => watchDatabase(database, settings.readyGraceMs)),
        ingest: ingest.logic,
        watchConditions: fromObservable(() => conditions$),
        compose: fromPromise(({ input }) => composeStreamWork(context, input.grant)),
        upkeep: fromObservable(({ input }) => input.work.upkeep()),
        closeNats: fromPromise(nats.close),
        closeDatabase: fromPromise(database.close),
      },
    }),
    {
      input: { writes: settings.roles.ingest },
      inspect: createActorTransitions({ logger, registry }),
    },
  );

  const ended = () => waitFor(root, ({ status }) => status !== 'active');
  root.start();
  const { fault, ports } = (await waitFor(root, (snapshot) => !snapshot.matches({ course: 'opening' })))
    .context;
  if (fault !== null) {
    await ended();
    throw fault.error;
  }
  const buildUrl = (address: string, port: number) => `http://${formatAuthority(address, port)}`;
  return {
    publicUrl: ports.public === undefined ? null : buildUrl(settings.host, ports.public),
    operatorUrl: buildUrl(settings.opsHost, requireValue(ports.operator, 'the operators’ port')),
    readiness,
    failed: waitForFault(root),
    stop: async (drainMs = 0) => {
      root.send({ type: 'leave', drainMs });
      await ended();
    },
  };
}

/**
 * Rejects once the service ends for a fault. Ignores a failure during a requested stop: its caller waits for the end, and would take the failure
 * for a reason not to.
 */
function waitForFault(root: ServiceRoot): Promise<never> {
  const failed = waitFor(root, (snapshot) => snapshot.hasTag('stopping')).then(({ context: { fault } }) => {
    if (fault !== null) throw fault.error;
    return new Promise<never>(() => undefined);
  });
  failed.catch(() => undefined); // Waiting for it is optional.
  return failed;
}
