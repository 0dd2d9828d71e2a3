import type { ServiceProcess } from '../processes/serviceProcess.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** All clients of the event stream share one. */
const holdsMost = new Map([['listeners of the feed', 1]]);
/** Other clients come and go meanwhile, and with them timers. */
const changing: ReadonlySet<string> = new Set(['timers', 'requests and streams of clients']);
const changesMost = 6;
/** Something that stays behind each of them is more than what changes. */
const streams = 8;
const listenMs = 2_000;
/** A client that stays has left by then. */
const releasedMs = 120_000;
const againMs = 500;

/** Behind work, and streams that clients open and leave, no process holds more of anything than before. */
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
      const most = holdsMost.get(kind) ?? (before[index]?.get(kind) ?? 0) + more;
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
