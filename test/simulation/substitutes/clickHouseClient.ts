import { Readable } from 'node:stream';
import { currentWorld } from '../world/currentWorld.ts';

export const ClickHouseLogLevel = { OFF: 127 } as const;

interface Query {
  readonly query: string;
  readonly query_params?: Readonly<Record<string, unknown>>;
  readonly abort_signal?: AbortSignal;
  /** Body of an insert. */
  readonly values?: Readable;
}

/** The client of ClickHouse, as far as `storage/clickhouse/database.ts` uses it, over the simulated server. */
export function createClient() {
  const { domain } = currentWorld().time;
  const database = currentWorld().database();
  /** Statements of a dead process never arrive. */
  const nothing = new Promise<never>(() => undefined);
  return {
    command: ({ query, query_params: parameters = {} }: Query) =>
      domain.isDead ? nothing : database.command(query, parameters),
    query: async ({ query, query_params: parameters = {}, abort_signal: signal }: Query) => {
      if (domain.isDead) return nothing;
      signal?.throwIfAborted();
      const text = await database.query(query, parameters);
      signal?.throwIfAborted();
      // Only the server's settings are read like that. Limits of its own would change nothing.
      return { json: async () => [], text: async () => text };
    },
    exec: async ({ query, query_params: parameters = {}, values }: Query) => {
      if (domain.isDead) return nothing;
      if (values !== undefined) {
        const table = /^INSERT INTO (\w+) FORMAT Native$/.exec(query)?.[1] ?? '';
        await database.insert(table, Buffer.concat(await values.toArray()));
        return { stream: Readable.from([]) };
      }
      return { stream: [Buffer.from(await database.query(query, parameters))] };
    },
    close: async () => undefined,
  };
}
