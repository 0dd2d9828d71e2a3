import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { PageRequest, ReadBody } from '../page.ts';
import type { Source } from './Figure.tsx';

export interface Page extends Omit<PageRequest, 'read'> {
  readonly read: ReadBody;
  /** Says that what is rendered is wrong from a time on, in epoch milliseconds, even if nothing else changes. */
  readonly expireAt: (atMs: number) => void;
  /** Where the figures that are rendered so far come from. */
  readonly sources: Source[];
}

/** `renderPage` provides the page to every component. */
export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error('a component is rendered outside of a page');
  return page;
}
