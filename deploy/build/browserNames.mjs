/** Names of Chromium and Chrome. The first is Chromium without windows, which needs a third less CPU for a page. */
export const browserNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
