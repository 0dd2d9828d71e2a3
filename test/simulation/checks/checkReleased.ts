import type { ServiceProcess } from '../processes/simulatedService.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** Other clients come and go meanwhile, and change these counts. */
const changing: ReadonlySet<string> = new Set(['timers', 'requests and streams of clients']);
const changesMost = 6;
/** More than the changes above, so that one leak per stream is noticed. */
const streams = 8;
const listenMs = 2_000;
/** Every client leaves within this time. */
const releasedMs = 120_000;
const againMs = 500;

/** Checks that no process holds more than before, after some work and event streams that clients opened and left. */
export async function checkReleased(
  world: SimulatedWorld,
  processes: readonly ServiceProcess[],
  work: () => Promise<void>,
): Promise<void> {
  const before = processes.map(({ domain: { held } }) => new Map(held));
  await work();
  for (const process of processes) await visit(process);
  const untilMs = world.time.nowMs() + releasedMs;
  for (const [index, { name, isAlive, domain }] of processes.entries())
    for (const [kind] of domain.held) {
      const more = changing.has(kind) ? changesMost : 0;
      const most = (before[index]?.get(kind) ?? 0) + more;
      const least = () => domain.held.get(kind) ?? 0;
      while (isAlive && least() > most) {
        if (world.time.nowMs() > untilMs)
          throw new SimulationFailure('leaks', `${name} holds ${least()} ${kind}, and may hold ${most}`);
        await world.sleep(againMs);
      }
    }

  async function visit(process: ServiceProcess) {
    const leaving = new AbortController();
    for (let count = 0; count < streams; count++)
      void process.listen('/v1/events/stream', {}, { leaving: leaving.signal, onPiece: () => undefined });
    await world.sleep(listenMs);
    leaving.abort();
  }
}
