/** A day of UTC, which has no leap seconds, and as much of a universal day. */
export const dayMs = 86_400_000;
