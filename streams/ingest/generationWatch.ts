import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { fromPromise } from 'xstate';
import { type FoldIdentity, isOfFold } from '../../actors/foldIdentity.ts';
import { generationWatchMachine } from '../../machines/generationWatchMachine.ts';
import type { Database } from '../../storage/database.ts';
import { readGenerationIdentity } from '../../storage/generationIdentity.ts';
import { findActiveTables } from '../../storage/generations.ts';
import { type ActiveTables, resolveTables } from '../../storage/tables.ts';
import { registerGauge } from '../metrics/registerGauge.ts';

export interface UsedGeneration {
  readonly tables: ActiveTables;
  use(generation: number): void;
}

export function createUsedGeneration(generation: number, registry: Registry): UsedGeneration {
  let used = resolveTables(generation);
  registerGauge(
    registry,
    {
      name: 'miner_table_generation',
      help: 'Generation of the ClickHouse tables in use; a replay creates the next one.',
    },
    () => used.generation,
  );
  return {
    tables: () => used,
    use: (other) => {
      used = resolveTables(other);
    },
  };
}

interface GenerationWatchOptions {
  readonly database: Database;
  /** Identity of the counter stream's fold: tables that another fold has filled cannot be used. */
  readonly identity: FoldIdentity;
  readonly onActivated: (generation: number) => void;
  readonly logger: Logger;
}

/** Watches for newly activated tables; the supervisor runs it. */
export function createGenerationWatch(options: GenerationWatchOptions): typeof generationWatchMachine {
  const { database, identity, onActivated, logger } = options;
  return generationWatchMachine.provide({
    actors: {
      look: fromPromise(async ({ input: { announced } }) => {
        const active = await findActiveTables(database);
        const { generation } = active;
        if (generation <= announced) return { generation, verdict: 'known' };
        const made = await readGenerationIdentity(database, active);
        return { generation, verdict: made === null || isOfFold(made, identity) ? 'ours' : 'foreign' };
      }),
    },
    actions: {
      useActive: ({ context }, { generation }) => {
        logger.warn(
          { used: context.announced, active: generation },
          'a replay replaced the tables: state is restored from the new ones',
        );
        onActivated(generation);
      },
      reportForeign: ({ context }, { generation }) =>
        logger.error(
          { used: context.announced, active: generation },
          'the active tables were made by another version or deployment; this process continues with its own',
        ),
    },
  });
}
