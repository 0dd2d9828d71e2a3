import { totalmem } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { registerMetrics } from '../../actors/registerMetrics.ts';
import packageJson from '../../package.json' with { type: 'json' };

/** Gauges of prom-client with a counter's ending. Their values are also in the gauges by kind. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

export function createProcessRegistry(): Registry {
  const registry = new Registry();
  // Half as often as by default: waking up for it took a third of an idle process's CPU.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const memoryLimitBytes = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
  registerMetrics(registry, {
    miner_build_info: [
      'Version of this program and of Node; always 1.',
      () => [[1, packageJson.version, process.versions.node]],
      'version',
      'node',
    ],
    miner_memory_limit_bytes: [
      'Memory limit of the container, or the memory of the machine.',
      () => memoryLimitBytes,
    ],
  });
  return registry;
}
