import type { Registry } from 'prom-client';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { listSamples, registerMetrics, type Sample, type Samples } from '../../actors/registerMetrics.ts';

/** Metrics of each stream, by name. Their first label is the stream. */
type StreamMetricTable<Source> = Readonly<
  Record<string, readonly [help: string, read: (source: Source) => Samples, ...labels: string[]]>
>;

/** @param sources by stream, the objects that the values are read from. */
export function registerStreamMetrics<Source>(
  registry: Registry,
  sources: () => Iterable<readonly [InputStreamName, Source]>,
  table: StreamMetricTable<Source>,
): void {
  for (const [name, [help, read, ...labels]] of Object.entries(table)) {
    const readAll = () =>
      Array.from(sources()).flatMap(([stream, source]) =>
        listSamples(read(source)).map(([value, ...others]): Sample => [value, stream, ...others]),
      );
    registerMetrics(registry, { [name]: [help, readAll, 'stream', ...labels] });
  }
}

/** 1 for the current state, 0 for the others. */
export function listStates<State extends string>(states: readonly State[], current: State): Sample[] {
  return states.map((state) => [state === current, state]);
}
