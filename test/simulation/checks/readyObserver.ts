import type { StoredStream } from '../nats/storedStream.ts';
import type { ServiceProcess } from '../processes/simulatedService.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** Longest lag of an input, as the service is configured. */
const graceMs = 10_000;
/** Time until the service notices a lag, and a client learns of it. */
const marginMs = 4_000;

type End = Pick<StoredStream, 'lastSequence' | 'createdNanos'>;

/** Checks that a ready process has folded what the streams held some seconds ago. */
export function observeReadiness({ time, nats }: SimulatedWorld) {
  const ends: { readonly atMs: number; readonly byStream: ReadonlyMap<string, End> }[] = [];
  return {
    /** Call it every second. */
    note: () => {
      const byStream = new Map(
        [...nats.store.streams].map(
          ([name, { lastSequence, createdNanos }]) => [name, { lastSequence, createdNanos }] as const,
        ),
      );
      ends.push({ atMs: time.nowMs(), byStream });
      while ((ends[0]?.atMs ?? 0) < time.nowMs() - 60_000) ends.shift();
    },
    check: (process: ServiceProcess) => {
      if (!process.isAlive || process.domain.resumesAtMs > time.nowMs()) return;
      const readiness = time.within(process.domain, () => process.service.readiness());
      if (!readiness.isReady) return;
      const { exchangedAtMs } = nats.store;
      if (exchangedAtMs !== null && time.nowMs() - exchangedAtMs > graceMs + marginMs)
        throw new SimulationFailure('readiness', `${process.name} says that it is ready at another NATS`);
      const streams = (readiness.detail as { streams: Record<string, { position: number }> }).streams;
      const sinceMs = time.nowMs() - graceMs - marginMs;
      const before = ends.findLast(({ atMs }) => atMs <= sinceMs);
      const after = ends.filter(({ atMs }) => atMs > sinceMs);
      for (const [stream, { position }] of Object.entries(streams)) {
        // The stream may have lost its end meanwhile, or be another one.
        const now = nats.store.streams.get(stream);
        const held = [before, ...after].map((one) => one?.byStream.get(stream));
        const least = Math.min(
          ...[now, ...held].map((end) =>
            end?.createdNanos === now?.createdNanos ? (end?.lastSequence ?? 0) : 0,
          ),
        );
        if (position < least)
          throw new SimulationFailure(
            'readiness',
            `${process.name} says that it is ready, has folded ${stream} through ${position}, and it held ${least} ${graceMs + marginMs} ms ago`,
          );
      }
    },
  };
}
