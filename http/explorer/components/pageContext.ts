import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Zone } from '../format/times.ts';
import type { Connection, PageSettings, ReadResource } from '../page.ts';
import type { Place } from '../place.ts';
import type { Reversal } from '../reversal.ts';

/** The service's time, which the browser uses because the visitor's own clock may be wrong. */
interface ServiceClock {
  nowMs(): number;
  /** Calls `listener` once per second until the returned function is called. */
  everySecond(listener: () => void): () => void;
}

/** Actions that need script; null in a page that the server renders. */
export interface PageActions {
  readonly clock: ServiceClock;
  /** Reads the next page of a list and appends it to the resource of the first page. */
  loadMore(path: string, cursor: string): void;
  download(fileName: string, contentType: string, text: string): void;
  chooseZone(zone: Zone): void;
}

export interface Page {
  readonly place: Place;
  readonly read: ReadResource;
  readonly settings: PageSettings;
  readonly renderedAtMs: number;
  readonly actions: PageActions | null;
  readonly connection: Connection | null;
  /** Zone of the times that the page shows; the server knows only UTC. */
  readonly zone: Zone;
  /** Rounds that a reorganization has unsettled since the page was opened. */
  readonly reversal: Reversal | null;
}

/** `App` provides the page to every component below it. */
export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error('a component of the page is rendered outside of App');
  return page;
}

/** The service's time, updated every second; null without script. */
export function useNowMs(): number | null {
  const { actions } = usePage();
  const [nowMs, setNowMs] = useState<number | null>(actions?.clock.nowMs() ?? null);
  useEffect(() => {
    if (actions === null) return;
    return actions.clock.everySecond(() => setNowMs(actions.clock.nowMs()));
  }, [actions]);
  return nowMs;
}

export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const change = ({ type }: Event) => setPrinting(type === 'beforeprint');
    const types = ['beforeprint', 'afterprint'];
    for (const type of types) addEventListener(type, change);
    return () => {
      for (const type of types) removeEventListener(type, change);
    };
  }, []);
  return isPrinting;
}
