/**
 * Whether a process that ingests is as ready as it can be, for orchestrators that ask a command: status 0 for the one that ingests, and for one
 * that waits as a standby with NATS and ClickHouse within reach.
 */
const answerMs = 4_000;
const port = process.env.MINER_OPS_PORT ?? '8081';

try {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(answerMs) });
  process.exitCode = response.ok || isReachingStandby(await response.json()) ? 0 : 1;
} catch {
  process.exitCode = 1;
}

/** Of the body of `/readyz`. It is asked often, so that nothing is loaded to check all of it. */
function isReachingStandby(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const isReaching =
    'nats' in body && body.nats === 'connected' && 'clickhouse' in body && body.clickhouse === 'reachable';
  return 'standbyFor' in body && isReaching;
}
