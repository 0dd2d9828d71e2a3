/** Values of Cache-Control that routes share (CONTRACT.md, Caching). */

/** May be stored by anyone, and is revalidated before every use. */
export const revalidated = 'public, max-age=0, must-revalidate';
export const noStore = 'no-store';
/** For token metadata with a card: stored by the caller alone, for five minutes. */
export const privateForFiveMinutes = 'private, max-age=300';
