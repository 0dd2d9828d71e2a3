import { dayMs, hourMs } from './messages.ts';

/** MESSAGES.md, Places of installations. */

export interface PlacesSettings {
  /** Places besides the public installation's. */
  readonly max: number;
  readonly publicId: string;
}

export type ReferencePlaces = ReturnType<typeof createReferencePlaces>;

/** The installations with places, and when each was heard. */
export function createReferencePlaces({ max, publicId }: PlacesSettings) {
  const heard = new Map<string, number>();
  let day: number | null = null;
  let leftToday = 0;
  let forgottenThroughMs = Number.NEGATIVE_INFINITY;

  const listOthers = () => [...heard].filter(([id]) => id !== publicId);
  const isSilent = (heardAtMs: number, nowMs: number) => Math.abs(nowMs - heardAtMs) > 30 * dayMs;
  const endOfDay = () => ((day ?? 0) + 1) * dayMs;

  /** Those that may be forgotten, the one that was silent longest first. */
  const listSilent = (nowMs: number) =>
    listOthers()
      .filter(([, heardAtMs]) => isSilent(heardAtMs, nowMs))
      .map(([id, heardAtMs]) => ({ id, heardAtMs, isLate: heardAtMs > endOfDay() + 30 * dayMs }))
      .sort(
        (a, b) =>
          Number(b.isLate) - Number(a.isLate) ||
          (a.isLate ? 0 : a.heardAtMs - b.heardAtMs) ||
          (a.id < b.id ? -1 : 1),
      );

  return {
    has: (id: string) => heard.has(id),
    forgottenThroughMs: () => forgottenThroughMs,
    /** Whether a message gives its installation a place, if it is accepted. */
    gives: (id: string, storedAtMs: number, madeAtMs: number): boolean => {
      if (heard.has(id) || id === publicId) return true;
      if (madeAtMs <= forgottenThroughMs) return false;
      const today = Math.floor(storedAtMs / dayMs);
      if (today !== day) {
        day = today;
        const free = max - listOthers().filter(([, at]) => !isSilent(at, storedAtMs)).length;
        leftToday = Math.ceil(free / 2);
      }
      if (leftToday <= 0) return false;
      return listOthers().length < max || listSilent(storedAtMs).length > 0;
    },
    /** Notes an accepted message. Returns the installations that were forgotten. */
    accept: (id: string, storedAtMs: number): string[] => {
      const forgotten: string[] = [];
      if (!heard.has(id) && id !== publicId) {
        leftToday--;
        while (listOthers().length >= max) {
          const [oldest] = listSilent(storedAtMs);
          if (oldest === undefined) break;
          heard.delete(oldest.id);
          forgotten.push(oldest.id);
          const throughMs = Math.min(oldest.heardAtMs, storedAtMs - 30 * dayMs) + hourMs;
          forgottenThroughMs = Math.max(forgottenThroughMs, throughMs);
        }
      }
      heard.set(id, storedAtMs);
      return forgotten;
    },
  };
}
