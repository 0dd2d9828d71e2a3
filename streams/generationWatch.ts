import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import { type FoldIdentity, isOfFold } from '../actors/foldIdentity.ts';
import type { Database } from '../storage/database.ts';
import { generationIdentity } from '../storage/generationIdentity.ts';
import { activeTables } from '../storage/generations.ts';
import type { ActiveTables, Tables } from '../storage/tables.ts';

const intervalMs = 1_000;

/** The generation of tables that this process uses, and whether another one became active. */
export interface GenerationWatch {
  readonly tables: ActiveTables;
  /** From now on these are used. */
  use(tables: Tables): void;
  stop(): void;
}

export interface GenerationWatchOptions {
  readonly database: Database;
  readonly tables: Tables;
  /** Of the fold of the counter stream: tables that another one has filled are of no use. */
  readonly identity: FoldIdentity;
  /** A replay made these the active ones. */
  readonly onActivated: (tables: Tables) => void;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Asks a server now and then; the embedded engine belongs to this process, so nobody else can replace its tables. */
export function watchGeneration(parts: GenerationWatchOptions): GenerationWatch {
  const { database, onActivated, logger, registry } = parts;
  let used = parts.tables;
  let announced = used.generation;
  let isAsking = false;
  new Gauge({
    name: 'miner_table_generation',
    help: 'Generation of the ClickHouse tables that are used; a replay makes the next one.',
    registers: [registry],
    collect() {
      this.set(used.generation);
    },
  });

  async function ask() {
    if (isAsking) return;
    isAsking = true;
    try {
      const active = await activeTables(database);
      // The one that is being rebuilt is above the active one until it takes its place.
      if (active.generation <= announced) return;
      announced = active.generation;
      const made = await generationIdentity(database, active);
      if (made !== null && !isOfFold(made, parts.identity)) {
        logger.error(
          { used: used.generation, active: active.generation },
          'tables that were made with another version or deployment are the active ones; this process keeps to those that it has',
        );
        return;
      }
      logger.warn(
        { used: used.generation, active: active.generation },
        'a replay replaced the tables: state is restored from the new ones',
      );
      onActivated(active);
    } catch {
      // Away at the moment; who needs the database logs what it says.
    } finally {
      isAsking = false;
    }
  }

  const timer = database.kind === 'server' ? setInterval(() => void ask(), intervalMs) : null;
  return {
    tables: () => used,
    use: (tables) => {
      used = tables;
    },
    stop: () => {
      if (timer !== null) clearInterval(timer);
    },
  };
}
