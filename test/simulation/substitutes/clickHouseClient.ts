import { Readable } from 'node:stream';
import { currentWorld } from '../world/currentWorld.ts';

export const ClickHouseLogLevel = { OFF: 127 } as const;

interface Query {
  readonly query: string;
  readonly query_params?: Readonly<Record<string, unknown>>;
  readonly format?: string;
  readonly abort_signal?: AbortSignal;
  /** Body of an insert. */
  readonly values?: Readable;
}

/** ClickHouse answers 64-bit integers as text. */
const quoteLarge = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** The client of ClickHouse, as far as `storage/clickhouse/database.ts` uses it, over the simulated server. */
export function createClient() {
  const { domain } = currentWorld().time;
  const database = currentWorld().database();
  /** Statements of a dead process never arrive. */
  const nothing = new Promise<never>(() => undefined);
  return {
    command: ({ query, query_params: parameters = {} }: Query) =>
      domain.isDead ? nothing : database.command(query, parameters),
    query: async ({ query, query_params: parameters = {}, format, abort_signal: signal }: Query) => {
      if (domain.isDead) return nothing;
      signal?.throwIfAborted();
      const rows = await database.query(query, parameters);
      signal?.throwIfAborted();
      // Only the server's settings are read in another format; it has none.
      if (format === 'JSONEachRow') return { json: async () => [], text: async () => '' };
      return {
        json: async () => ({ data: rows }),
        text: async () => JSON.stringify({ data: rows }, quoteLarge),
      };
    },
    exec: async ({ query, query_params: parameters = {}, values }: Query) => {
      if (domain.isDead) return nothing;
      if (values !== undefined) {
        const table = /^INSERT INTO (\w+) FORMAT Native$/.exec(query)?.[1] ?? '';
        await database.insert(table, values.read());
        return { stream: Readable.from([]) };
      }
      const rows = await database.query(query.replace(plainFormat, ''), parameters);
      const names = /^SELECT (.*?) FROM/.exec(query)?.[1]?.split(', ') ?? [];
      const lines = [names, ...rows].map((row) => `${row.join('\t')}\n`);
      return { stream: [Buffer.from(lines.join(''))] };
    },
    close: async () => undefined,
  };
}

/** No cell in the text format needs an escape. */
const plainFormat = / FORMAT TabSeparatedWithNames$/;
