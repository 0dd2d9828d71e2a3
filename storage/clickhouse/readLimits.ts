import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';

/** A read that exceeds these limits has gone wrong, and no client waits for it any more. */
export const readSecondsMax = 30;
export const readBytesMax = 2_000_000_000;

const limits = { max_execution_time: readSecondsMax, max_memory_usage: readBytesMax } as const;
/** Ends an aborted read; without this setting it would continue in the server. */
const cancellation = 'cancel_http_readonly_queries_on_client_close';

interface SettingRow {
  readonly name: string;
  readonly value: string;
  /** 1 if the user may not change the setting. */
  readonly readonly?: number;
}

/**
 * Settings to send with each read of a server: limits that are narrower than the user's own, as far as the user may change them.
 */
export async function findReadLimits(client: ClickHouseClient): Promise<ClickHouseSettings> {
  const names = ['readonly', cancellation, ...Object.keys(limits)].map((name) => `'${name}'`).join(', ');
  const query = `SELECT * FROM system.settings WHERE name IN (${names})`;
  const rows = await (await client.query({ query, format: 'JSONEachRow' })).json<SettingRow>();
  const settings = new Map(rows.map((row) => [row.name, row]));
  if (settings.get('readonly')?.value === '1') return {};
  const mayChange = (name: string) => settings.has(name) && settings.get(name)?.readonly !== 1;
  const isWider = (name: string, limit: number) => {
    const value = Number(settings.get(name)?.value);
    return value === 0 || value > limit;
  };
  return {
    ...(mayChange(cancellation) && { [cancellation]: 1 as const }),
    ...Object.fromEntries(
      Object.entries(limits).filter(([name, limit]) => mayChange(name) && isWider(name, limit)),
    ),
  };
}
