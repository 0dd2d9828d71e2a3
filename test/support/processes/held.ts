import { eventually } from './childProcess.ts';

/** Consumers that still pull although their subscription has ended. The end of their connection would hide them. */
export const cancelledConsumers = 'cancelled consumers';

const heldByKind = new Map<string, number>();

/** Counts what parts of the program in this process hold, such as streams of clients. */
export function changeHeld(kind: string, by: number): void {
  heldByKind.set(kind, (heldByKind.get(kind) ?? 0) + by);
}

export function readHeld(): ReadonlyMap<string, number> {
  return new Map(heldByKind);
}

/** Waits until parts hold no more of anything than before. The limit is far above the time in which a part notices that a client has left. */
export async function untilReleased(before: ReadonlyMap<string, number>, limitMs = 30_000): Promise<void> {
  const listKept = () =>
    [...heldByKind].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind);
  await eventually(
    () => {
      const kept = listKept();
      if (kept.length > 0) throw new Error(`still held: ${kept.join(', ')}`);
      return true;
    },
    'release of everything that the test made parts hold',
    limitMs,
  );
}
