import { parser } from '@prometheus-io/lezer-promql';
import { createProcessRegistry } from '../../../deploy/process/processMetrics.ts';
import { readDeployFile } from './deployFiles.ts';

const ofOthers = ['up', 'kubelet_volume_stats_available_bytes', 'kubelet_volume_stats_capacity_bytes'];

/** Every metric of a process, of Prometheus itself and of Kubernetes. */
export function knownMetrics(): ReadonlySet<string> {
  const registry = createProcessRegistry();
  const own = [...readDeployFile('metrics.csv').matchAll(/^(miner_\w+),(\w+),/gm)].flatMap(
    ([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return new Set([...own, ...registry.getMetricsAsArray().map(({ name }) => name), ...ofOthers]);
}

/** Metrics in an expression. @throws Error with the place that is not PromQL. */
export function findMetrics(expression: string): string[] {
  const names: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ name, type, from, to }) => {
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expression}`);
      if (name === 'Identifier') names.push(expression.slice(from, to));
    },
  });
  return names;
}
