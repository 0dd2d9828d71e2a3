/** Values of Cache-Control that routes share (CONTRACT.md, Caching). */

/** Anyone may store the response, and revalidates it before every use. */
export const revalidated = 'public, max-age=0, must-revalidate';
/** Anyone may store the response, and asks before every use. For responses without a tag. */
export const noCache = 'no-cache';
export const noStore = 'no-store';
/** For token metadata with a card: only the caller may store it, for five minutes. */
export const privateForFiveMinutes = 'private, max-age=300';
