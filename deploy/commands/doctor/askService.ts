import { z } from 'zod';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import { formatAuthority } from '../../../http/server/engine/listener.ts';
import type { Configuration } from '../../configuration/configuration.ts';
import { type Finding, failed, ok, skipped } from '../../diagnosis/finding.ts';
import { auditCheck, type DatabaseReport, databaseReport } from '../../diagnosis/inspectDatabase.ts';

/** Counting the rows of years takes a while. */
const answerMs = 120_000;
/** For answers that need no counting. */
const quickAnswerMs = 10_000;

/**
 * Asks a running service for its findings, since the embedded engine belongs to one process.
 *
 * @param inUse why the folder cannot be opened here.
 */
export async function askService(
  configuration: Configuration,
  { isQuick, inUse }: { readonly isQuick: boolean; readonly inUse: string },
): Promise<DatabaseReport> {
  const url = findDiagnosisUrl(configuration, isQuick);
  try {
    return await fetchReport(url, isQuick ? quickAnswerMs : answerMs);
  } catch (error) {
    const detail = `${inUse} Asking it at ${url} failed: ${readErrorMessage(error)}; MINER_OPS_PORT must have the value that the service has`;
    return { findings: [skipped('ClickHouse', detail)], stored: null };
  }
}

/** Asks a running service for the findings of its self-audit. */
export async function askAudit(configuration: Configuration): Promise<Finding> {
  const url = findDiagnosisUrl(configuration, true);
  const check = 'self-audit of the service';
  try {
    const { findings } = await fetchReport(url, quickAnswerMs);
    const drifts = findings.filter((finding) => finding.check === auditCheck && finding.outcome === 'failed');
    if (drifts.length === 0) return ok(check, 'nothing is known to differ');
    return failed(check, drifts.map(({ detail }) => detail).join('; '), drifts[0]?.remedy ?? '');
  } catch {
    return skipped(check, `no service answers at ${url}; if one runs, set MINER_OPS_PORT to its port`);
  }
}

async function fetchReport(url: string, timeoutMs: number): Promise<DatabaseReport> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  return z.parse(databaseReport, await response.json());
}

function findDiagnosisUrl(
  { MINER_OPS_HOST: host, MINER_OPS_PORT: port }: Configuration,
  isQuick: boolean,
): string {
  const reachable = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${formatAuthority(reachable, port)}/diagnosis${isQuick ? '?quick' : ''}`;
}
