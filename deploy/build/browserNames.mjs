/** Names of Chromium and Chrome. The first is Chromium without windows, which shows a page with a third less of the processor. */
export const browserNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
