/** Bounds of the cached pages, and of their bytes before compression. Beyond them the page that was rendered first is evicted. */
export const cachedPagesMax = 64;
export const cachedPagesBytesMax = 4 * 1024 * 1024;

/** Rendered pages by place, in a bounded amount of memory. */
export function createPageCache<Page extends { readonly bytes: number }>() {
  const pages = new Map<string, Page>();
  let bytes = 0;

  function remove(place: string) {
    bytes -= pages.get(place)?.bytes ?? 0;
    pages.delete(place);
  }

  return {
    get: (place: string): Page | undefined => pages.get(place),
    set: (place: string, page: Page) => {
      remove(place);
      pages.set(place, page);
      bytes += page.bytes;
      for (const oldest of pages.keys()) {
        if (pages.size <= cachedPagesMax && bytes <= cachedPagesBytesMax) break;
        remove(oldest);
      }
    },
  };
}
