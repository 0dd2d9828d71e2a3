import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../../actors/clock.ts';
import { type Database, openDatabase } from '../../storage/clickhouse/database.ts';
import { createStreamActors, type StreamActors } from '../../streams/folds/streamDefinitions.ts';
import { createIngest, type Ingest } from '../../streams/ingest/ingest.ts';
import { createStreamGuard, type StreamGuard } from '../../streams/ingest/lostStreams.ts';
import {
  createStreamSettingsWatch,
  type StreamSettingsWatch,
} from '../../streams/jetstream/settings/streamSettings.ts';
import { createNatsLink, type NatsLink } from '../../streams/nats/natsLink.ts';
import { createMessageCounts, type MessageCounts } from '../../streams/pipeline/messageCounts.ts';
import type { ProcessState } from './processState.ts';
import type { ServiceSettings } from './serviceSettings.ts';

export interface ServiceOptions {
  readonly settings: ServiceSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Everything that the parts of a process share. It is created once and passed on unchanged. */
export interface ServiceContext extends ServiceOptions {
  readonly state: ProcessState;
  readonly actors: StreamActors;
  readonly counts: MessageCounts;
  readonly database: Database;
  readonly nats: NatsLink;
  readonly streamGuard: StreamGuard;
  readonly streamSettings: StreamSettingsWatch;
  /** Also gives the database, with the rights of a grant. */
  readonly ingest: Ingest;
}

/** @throws DirectoryInUse */
export function createServiceContext(options: ServiceOptions, state: ProcessState): ServiceContext {
  const { settings, clock, logger, registry } = options;
  const { deployment, retentionDays, acceptedLosses } = settings;
  const actors = createStreamActors(deployment);
  const database = openDatabase(settings.database);
  const nats = createNatsLink({
    ...settings.nats,
    name: settings.roles.ingest ? 'miner ingest' : 'miner serve',
    logger,
  });
  const { jetStream } = nats;
  const streamGuard = createStreamGuard({ database, jetStream, clock, acceptedLosses, logger });
  const streamSettings = createStreamSettingsWatch({ jetStream, retentionDays, logger });
  const ingest = createIngest({
    ...settings,
    jetStream,
    database,
    identity: actors.MINER_COUNTER.identity,
    settlementIdentity: actors.MINER_PIPELINE.identity,
    streamGuard,
    streamSettings,
    actor: state.ingest,
    clock,
    logger,
  });
  const counts = createMessageCounts(registry);
  return { ...options, state, actors, counts, database, nats, streamGuard, streamSettings, ingest };
}
