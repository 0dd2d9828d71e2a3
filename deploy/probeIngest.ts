/**
 * A readiness probe for orchestrators that run a command. Status 0 if the process ingests, or waits as a standby and reaches NATS and
 * ClickHouse.
 */
const answerMs = 4_000;
const port = process.env.MINER_OPS_PORT ?? '8081';

try {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(answerMs) });
  process.exitCode = response.ok || isReachingStandby(await response.json()) ? 0 : 1;
} catch {
  process.exitCode = 1;
}

/** Reads only two members of the body of `/readyz`: the probe runs often, so it loads no schema. */
function isReachingStandby(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const isReaching =
    'nats' in body && body.nats === 'connected' && 'clickhouse' in body && body.clickhouse === 'reachable';
  return 'standbyFor' in body && isReaching;
}
