import { totalmem } from 'node:os';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
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
  new Gauge({
    name: 'miner_build_info',
    help: 'Version of this program and of Node; always 1.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: packageJson.version, node: process.versions.node }, 1);
  new Gauge({
    name: 'miner_memory_limit_bytes',
    help: 'Memory limit of the container, or the memory of the machine.',
    registers: [registry],
  }).set(Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()));
  return registry;
}
