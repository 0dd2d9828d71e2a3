/** Values of Cache-Control that routes share (CONTRACT.md, Caching). */

/** Kept by anyone, asked about before every use. */
export const revalidated = 'public, max-age=0, must-revalidate';
export const noStore = 'no-store';
/** Of token metadata with a card: kept by the caller alone, for five minutes. */
export const privateForFiveMinutes = 'private, max-age=300';
