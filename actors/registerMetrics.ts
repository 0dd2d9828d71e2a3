import { Counter, Gauge, type Registry } from 'prom-client';

type Value = number | bigint | boolean;
/** A value, followed by its labels. Null if it is unknown: then it is absent rather than zero. */
export type Sample = readonly [value: Value | null, ...labels: string[]];
/** A single value is that of a metric without labels. */
export type Samples = Value | null | readonly Sample[];

/** Metrics by name: a name that ends in `_total` is a counter, any other a gauge. They are read at each request of `/metrics`. */
type MetricTable = Readonly<
  Record<string, readonly [help: string, read: () => Samples | Promise<Samples>, ...labels: string[]]>
>;

/** Registers metrics whose values are known elsewhere. */
export function registerMetrics(registry: Registry, table: MetricTable): void {
  for (const [name, [help, read, ...labels]] of Object.entries(table)) {
    async function collect(this: Pick<Gauge, 'reset' | 'remove' | 'inc'>) {
      const samples = listSamples(await read());
      this.reset();
      // A metric without labels shows zero until it is removed.
      if (labels.length === 0) this.remove();
      for (const [value, ...values] of samples) {
        if (value === null) continue;
        this.inc(Object.fromEntries(labels.map((label, at) => [label, values[at] ?? ''])), Number(value));
      }
    }
    const settings = { name, help, labelNames: labels, registers: [registry], collect };
    if (name.endsWith('_total')) new Counter(settings);
    else new Gauge(settings);
  }
}

export function listSamples(samples: Samples): readonly Sample[] {
  return typeof samples === 'object' && samples !== null ? samples : [[samples]];
}
