/**
 * Whether a process that ingests is as ready as it can be, for orchestrators that ask a command: status 0 for the one that ingests, and for one
 * that waits as a standby with NATS and ClickHouse within reach.
 */
const answerMs = 4_000;
const port = process.env.MINER_OPS_PORT ?? '9090';

/** What `/readyz` says, as far as it matters here. */
interface ReadinessBody {
  readonly nats?: string;
  readonly clickhouse?: string;
  readonly standbyFor?: object;
}

try {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(answerMs) });
  const { standbyFor, nats, clickhouse } = (await response.json()) as ReadinessBody;
  const isStandby = standbyFor !== undefined && nats === 'connected' && clickhouse === 'reachable';
  process.exitCode = response.ok || isStandby ? 0 : 1;
} catch {
  process.exitCode = 1;
}
