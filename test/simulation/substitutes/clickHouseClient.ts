import { Readable } from 'node:stream';
import { currentWorld } from '../world/currentWorld.ts';

export const ClickHouseLogLevel = { OFF: 127 } as const;

interface Query {
  readonly query: string;
  readonly query_params?: Readonly<Record<string, unknown>>;
  readonly format?: string;
  readonly abort_signal?: AbortSignal;
  /** Of an insert. */
  readonly values?: Readable;
}

/** Integers of 64 bits are text in the answers of a server. */
const quoteLarge = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** The client of ClickHouse, as far as `storage/database.ts` uses it, over the simulated server. */
export function createClient() {
  const { domain } = currentWorld().time;
  const database = currentWorld().database();
  /** What a process asks that is dead never arrives. */
  const nothing = new Promise<never>(() => undefined);
  return {
    command: ({ query, query_params: parameters = {} }: Query) =>
      domain.isDead ? nothing : database.command(query, parameters),
    query: async ({ query, query_params: parameters = {}, format, abort_signal: signal }: Query) => {
      if (domain.isDead) return nothing;
      signal?.throwIfAborted();
      const rows = await database.query(query, parameters);
      signal?.throwIfAborted();
      // Only settings are asked for in the other format, of which there are none.
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

/** What is asked for without JSON has no cell that would need an escape. */
const plainFormat = / FORMAT TabSeparatedWithNames$/;
