import type { SimulatedClickHouse } from '../clickhouse/simulatedClickHouse.ts';
import type { SimulatedDatabaseServer } from './currentWorld.ts';
import type { Domain, VirtualTime } from './virtualTime.ts';

/**
 * Fate of a statement. `applied`: done, but reported as failed. `torn`: done in part, and reported as failed. `unanswered`: no answer until the client's
 * timeout. `late`: reported as failed, and done after some time.
 */
export type StatementFate = 'answered' | 'refused' | 'applied' | 'torn' | 'unanswered' | 'late';

/** Timeout of the client. */
const requestMs = 30_000;

interface DatabaseLinkOptions {
  readonly time: VirtualTime;
  readonly server: SimulatedClickHouse;
  readonly latencyMs: () => number;
  /** After this time a late statement is done. */
  readonly lateMs: () => number;
  readonly fateOf: (kind: 'read' | 'write', sql: string) => StatementFate;
  /** Called before a process sends something. */
  readonly onSend: (domain: Domain, what: Buffer) => void;
}

/** Connects processes to ClickHouse. */
export function createDatabaseLink(options: DatabaseLinkOptions): SimulatedDatabaseServer {
  const { time, server, latencyMs, lateMs, fateOf, onSend } = options;

  function send<Result>(
    kind: 'read' | 'write',
    sql: string,
    run: () => Result,
    runPart: () => void = () => undefined,
  ): Promise<Result> {
    const { domain } = time;
    onSend(domain, Buffer.from(sql));
    if (domain.isDead) return new Promise(() => undefined);
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void, afterMs = latencyMs()) => time.schedule(afterMs, settle, domain);
      time.schedule(
        latencyMs(),
        () => {
          const fate = fateOf(kind, sql);
          if (fate === 'refused' || (fate === 'late' && !mayBeLate(sql))) {
            answer(() => reject(new Error('connect ECONNREFUSED')));
            return;
          }
          if (fate === 'unanswered') {
            if (kind === 'write') attempt(run);
            answer(() => reject(new Error('Timeout error.')), requestMs);
            return;
          }
          if (fate === 'late') {
            time.schedule(lateMs(), () => attempt(run), time.outside);
            answer(() => reject(new Error('socket hang up')));
            return;
          }
          if (fate === 'torn') {
            runPart();
            answer(() => reject(new Error('socket hang up')));
            return;
          }
          let result: Result;
          try {
            result = run();
          } catch (error) {
            answer(() => reject(error));
            return;
          }
          answer(() => (fate === 'applied' ? reject(new Error('socket hang up')) : resolve(result)));
        },
        time.outside,
      );
    });
  }

  return {
    query: (sql, parameters) => send('read', sql, () => server.query(sql, parameters)),
    command: (sql, parameters) => send('write', sql, () => server.command(sql, parameters)),
    insert: (table, blocks) =>
      send(
        'write',
        `INSERT INTO ${table} FORMAT Native\n${blocks.toString('latin1')}`,
        () => server.insert(table, blocks),
        () => server.insert(table, blocks, true),
      ),
  };
}

/** Rows name their run, so it does not matter when they arrive. */
function mayBeLate(sql: string): boolean {
  return /^INSERT INTO (stored_|lineages)/.test(sql);
}

function attempt(run: () => unknown) {
  try {
    run();
  } catch {
    // Nobody waits for the answer any more.
  }
}
