import { z } from 'zod';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { Configuration } from '../../configuration.ts';
import { skipped } from '../../diagnosis/finding.ts';
import { type DatabaseReport, databaseReport } from '../../diagnosis/inspectDatabase.ts';

/** Counting the rows of years takes a while. */
const answerMs = 120_000;

/**
 * The embedded engine belongs to one process, so while the service runs it is asked for what it finds.
 *
 * @param inUse why the folder cannot be opened here.
 */
export async function askService(
  { MINER_OPS_HOST: host, MINER_OPS_PORT: port }: Configuration,
  { isQuick, inUse }: { readonly isQuick: boolean; readonly inUse: string },
): Promise<DatabaseReport> {
  const reachable = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  const url = `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/diagnosis${isQuick ? '?quick' : ''}`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(answerMs) });
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    return z.parse(databaseReport, await response.json()) as DatabaseReport;
  } catch (error) {
    const detail = `${inUse} It was asked at ${url}: ${readErrorMessage(error)}; MINER_OPS_PORT has to be that of the service`;
    return { findings: [skipped('ClickHouse', detail)], stored: null };
  }
}
