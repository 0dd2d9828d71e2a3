import { createProcessRegistry } from '../../../deploy/process/processMetrics.ts';
import { readDeployFile } from './deployFiles.ts';

/** Every metric of a process. */
export function knownMetrics(): ReadonlySet<string> {
  const registry = createProcessRegistry();
  const own = [...readDeployFile('metrics.csv').matchAll(/^(miner_\w+),(\w+),/gm)].flatMap(
    ([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return new Set([...own, ...registry.getMetricsAsArray().map(({ name }) => name)]);
}

/** Metrics of the service in an expression or page. */
export function findMetrics(text: string): string[] {
  return text.match(/\b(?:miner|nodejs|process)_[a-z0-9_]+\b/g) ?? [];
}
