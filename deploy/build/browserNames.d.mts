/** Names of Chromium and Chrome, the preferred one first. */
export const browserNames: readonly string[];
