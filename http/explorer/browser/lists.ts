/** Pages of events that are read, at most, if more than a page of them has happened since the page was read. */
const gapPagesMax = 10;

interface Lists {
  /** Gives a newer version of the page the further pages that are shown now; rejects if one cannot be read. */
  extend(next: Document): Promise<void>;
}

/**
 * Appends further pages of lists to what is shown (`components/More.tsx`). Below the first page, a list of events changes only if a reorganization
 * has replaced some of them. The rows of other lists change at any time, and are read again.
 *
 * @param readPage reads a page of this service; rejects if it is not answered with one.
 * @param prepare makes a page that was read look like the shown one.
 */
export function connectLists(
  readPage: (address: string) => Promise<Document>,
  prepare: (page: Document) => void,
): Lists {
  /** Number of further pages, by name of their list. */
  const extended = new Map<string, number>();

  async function append(link: HTMLAnchorElement, more: HTMLElement) {
    const name = link.dataset.more ?? '';
    if (more.ariaBusy === 'true') return;
    more.ariaBusy = 'true';
    more.classList.remove('is-failed');
    try {
      const page = await readPage(link.href);
      prepare(page);
      const [first] = appendPage(document, page, name);
      extended.set(name, (extended.get(name) ?? 0) + 1);
      // The link leads further now, or is gone: the keyboard continues where the new items begin.
      first?.querySelector('a')?.focus({ preventScroll: true });
    } catch {
      more.classList.add('is-failed');
    } finally {
      more.ariaBusy = null;
    }
  }

  async function extendList(next: Document, name: string, count: number) {
    const [shown, first] = [findList(document, name), findList(next, name)];
    if (shown === null || first === null) return;
    const isChanging = findMore(next, name)?.dataset.changes !== undefined;
    const kept = isChanging ? null : findKept(shown, first);
    if (kept !== null) {
      first.append(...kept.map((item) => item.cloneNode(true)));
      return replaceMore(next, name, findMore(document, name));
    }
    const last = shown.lastElementChild?.id ?? '';
    for (let read = 0; read < count + gapPagesMax; read++) {
      if (read >= count && listIds(first.children).has(last)) return;
      const link = findMore(next, name)?.querySelector('a');
      if (link == null) return;
      appendPage(next, await readPage(link.href), name);
    }
  }

  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element)) return;
    const link = event.target.closest<HTMLAnchorElement>('a[data-more]');
    const more = link?.closest<HTMLElement>('.more') ?? null;
    if (link === null || more === null) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void append(link, more);
  });
  return {
    extend: async (next) => {
      for (const [name, count] of extended) await extendList(next, name, count);
    },
  };
}

const findList = (page: Document, name: string) => page.getElementById(`list-${name}`);
const findMore = (page: Document, name: string) => page.getElementById(`more-${name}`);
const listIds = (items: Iterable<Element>) => new Set([...items].map(({ id }) => id));

/** @returns the shown items that follow the last one of the new first page; null if that page does not continue what is shown. */
function findKept(shown: Element, first: Element): Element[] | null {
  const known = listIds(first.children);
  const items = [...shown.children];
  const last = items.findLastIndex(({ id }) => known.has(id));
  const isContinued = last >= 0 && items.slice(0, last).every(({ id }) => known.has(id));
  return isContinued ? items.slice(last + 1) : null;
}

/** @returns the items that are new. */
function appendPage(page: Document, further: Document, name: string): Element[] {
  const list = findList(page, name);
  const known = listIds(list?.children ?? []);
  const items = [...(findList(further, name)?.children ?? [])].filter(({ id }) => !known.has(id));
  list?.append(...items);
  replaceMore(page, name, findMore(further, name));
  return items;
}

function replaceMore(page: Document, name: string, more: Element | null) {
  const existing = findMore(page, name);
  if (more === null) existing?.remove();
  else existing?.replaceWith(more.cloneNode(true));
}
