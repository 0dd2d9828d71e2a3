import { Gauge, type Registry } from 'prom-client';

/** Registers a gauge without labels, read at each request of `/metrics`. An unknown value is absent rather than zero. */
export function registerGauge(
  registry: Registry,
  about: { readonly name: string; readonly help: string },
  read: () => number | null,
): void {
  new Gauge({
    ...about,
    registers: [registry],
    collect() {
      const value = read();
      // A metric without labels shows zero until it is removed.
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}
