import { z } from 'zod';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import { formatAuthority } from '../../../http/server/engine/listener.ts';
import type { Configuration } from '../../configuration/configuration.ts';
import { type Finding, failed, ok, skipped } from '../../diagnosis/finding.ts';
import { auditCheck, databaseReport } from '../../diagnosis/inspectDatabase.ts';

/** Comparing half hours takes a while. */
const answerMs = 120_000;
/** For answers that read no rows. */
const quickAnswerMs = 10_000;

/**
 * Asks a running service for its findings, since the embedded engine belongs to one process.
 *
 * @param inUse why the folder cannot be opened here.
 */
export async function askFindings(
  configuration: Configuration,
  { isQuick, inUse }: { readonly isQuick: boolean; readonly inUse: string },
): Promise<readonly Finding[]> {
  const url = findDiagnosisUrl(configuration, isQuick);
  try {
    return await fetchFindings(url, isQuick ? quickAnswerMs : answerMs);
  } catch (error) {
    const detail = `${inUse} Asking it at ${url} failed: ${readErrorMessage(error)}; MINER_OPS_PORT must have the value that the service has`;
    return [skipped('ClickHouse', detail)];
  }
}

/** Asks a running service for the findings of its self-audit. */
export async function askAudit(configuration: Configuration): Promise<Finding> {
  const url = findDiagnosisUrl(configuration, true);
  const check = 'self-audit of the service';
  try {
    const findings = await fetchFindings(url, quickAnswerMs);
    const drifts = findings.filter((finding) => finding.check === auditCheck && finding.outcome === 'failed');
    if (drifts.length === 0) return ok(check, 'nothing is known to differ');
    return failed(check, drifts.map(({ detail }) => detail).join('; '), drifts[0]?.remedy ?? '');
  } catch (error) {
    const detail =
      error instanceof UnusableAnswer
        ? `what answers at ${url} sent ${error.message}`
        : `no service answers at ${url}`;
    return skipped(check, `${detail}; if one runs, set MINER_OPS_PORT to its port`);
  }
}

/** Something answers, but not with findings: another program, a service that fails, or one of another version. */
class UnusableAnswer extends Error {}

async function fetchFindings(url: string, timeoutMs: number): Promise<readonly Finding[]> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (response.status !== 200) throw new UnusableAnswer(`status ${response.status}`);
  const report = z.safeParse(databaseReport, await response.json().catch(() => null));
  if (!report.success) throw new UnusableAnswer('a body that is no report of this version');
  return report.data.findings;
}

function findDiagnosisUrl(
  { MINER_OPS_HOST: host, MINER_OPS_PORT: port }: Configuration,
  isQuick: boolean,
): string {
  const reachable = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${formatAuthority(reachable, port)}/diagnosis${isQuick ? '?quick' : ''}`;
}
