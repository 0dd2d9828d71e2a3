import { currentWorld } from './currentWorld.ts';
import type { Domain } from './virtualTime.ts';

/** Counts something that the running process holds. The returned function counts its release, once. */
export function hold(kind: string): () => void {
  const { domain } = currentWorld().time;
  let isHeld = true;
  changeHeld(domain, kind, 1);
  return () => {
    if (isHeld) changeHeld(domain, kind, -1);
    isHeld = false;
  };
}

export function changeHeld({ held }: Domain, kind: string, by: number): void {
  held.set(kind, (held.get(kind) ?? 0) + by);
}
