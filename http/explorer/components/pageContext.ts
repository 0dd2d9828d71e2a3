import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { PageRequest, ReadBody } from '../page.ts';
import type { Problem } from '../problems.ts';

/** Where a figure comes from. The page lists it once, below all figures (`Sources.tsx`). */
export interface Source {
  readonly label: string;
  readonly route: string;
  /** Path of the member in the body, such as `measurement.rpmMilli`. */
  readonly field: string;
  /** All digits in the unit of the route; null if unknown. */
  readonly exact?: string | null;
  readonly meaning?: string;
  readonly provenance?: string | null;
  readonly observedAt?: string | null;
  /** Number of the chain's safe block at which it was read. */
  readonly safeBlock?: string | null;
}

export interface Page extends Omit<PageRequest, 'read'> {
  readonly read: ReadBody;
  /** Says that what is rendered is wrong from a time on, in epoch milliseconds, even if nothing else changes. */
  readonly expireAt: (atMs: number) => void;
  /** What does not work at the moment, in the order of the work. */
  readonly problems: readonly Problem[];
  /** Where the figures that are rendered so far come from. */
  readonly sources: Source[];
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error('a component is rendered outside of a page');
  return page;
}
