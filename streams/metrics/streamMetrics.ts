import { Counter, Gauge, type Registry } from 'prom-client';
import type { InputStreamName } from '../../actors/messages/subjects.ts';

/**
 * Registers metrics with one value for each stream, read at each request of `/metrics`.
 *
 * @param sources by stream, the objects that its values are read from.
 */
export function createStreamMetrics<Source>(
  registry: Registry,
  sources: () => Iterable<readonly [InputStreamName, Source]>,
) {
  const settings = { labelNames: ['stream'], registers: [registry] };
  return {
    counter: (name: string, help: string, read: (source: Source) => number) => {
      new Counter({
        ...settings,
        name,
        help,
        collect() {
          this.reset();
          for (const [stream, source] of sources()) this.inc({ stream }, read(source));
        },
      });
    },
    gauge: (name: string, help: string, read: (source: Source) => number | null) => {
      new Gauge({
        ...settings,
        name,
        help,
        collect() {
          this.reset();
          for (const [stream, source] of sources()) {
            const value = read(source);
            // An unknown value is omitted rather than shown as zero.
            if (value !== null) this.set({ stream }, value);
          }
        },
      });
    },
    /** 1 for the current state, 0 for the others. */
    states: <State extends string>(
      { name, help, states }: { name: string; help: string; states: readonly State[] },
      read: (source: Source) => State,
    ) => {
      new Gauge({
        name,
        help,
        labelNames: ['stream', 'state'],
        registers: [registry],
        collect() {
          this.reset();
          for (const [stream, source] of sources()) {
            const current = read(source);
            for (const state of states) this.set({ stream, state }, state === current ? 1 : 0);
          }
        },
      });
    },
  };
}
