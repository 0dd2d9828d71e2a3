import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { browserNames } from '../../../deploy/build/browserNames.mjs';
import { shareInFile, whenFinished } from '../processes/lifetime.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The system's Chromium, because Playwright would download one. */
function findBrowser(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = browserNames.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = candidates.find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(`a browser is needed: none of ${browserNames.join(', ')} is on the PATH`);
  return found;
}

/** A browser that closes after its test, or after the file's last test if it is shared. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findBrowser(),
    // In a container it runs as root and has little shared memory.
    // The processor draws either way, and does so more cheaply without a process that emulates a graphics card.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  whenFinished(() => browser.close());
  return browser;
}

interface Look {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
  readonly isScriptAllowed?: boolean;
  readonly hasTouch?: boolean;
  readonly timezoneId?: string;
  /** Whether a test moves the clock of its pages. */
  readonly isClocked?: boolean;
}

/** A window with its own storage, which its tabs share. */
export async function openWindow(browser: Browser, look: Look = {}): Promise<BrowserContext> {
  const {
    width = 1440,
    scheme = 'light',
    isScriptAllowed = true,
    hasTouch = false,
    isClocked,
    timezoneId,
  } = look;
  const context = await browser.newContext({
    viewport: { width, height: width < 600 ? 740 : 900 },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    javaScriptEnabled: isScriptAllowed,
    hasTouch,
    ...(timezoneId !== undefined && { timezoneId }),
  });
  // Only a hanging test reaches this limit.
  context.setDefaultTimeout(60_000);
  if (isClocked) await context.clock.install();
  whenFinished(() => context.close());
  return context;
}

/** Folder for the pictures of `npm run screenshots`; null in an ordinary run. */
export const picturesFolder = process.env.MINER_SCREENSHOTS ?? null;

/** Saves a picture of the whole page if pictures are requested. */
export async function savePicture(page: Page, name: string) {
  if (picturesFolder !== null)
    await page.screenshot({ path: join(picturesFolder, `${name}.png`), fullPage: true });
}

/** Opens a URL in a window. @returns the page with its errors, and its requests: there should be none to other origins. */
export async function openTab(context: BrowserContext, url: string) {
  const page = await context.newPage();
  const conduct = { errors: [] as string[], requests: [] as string[] };
  page.on('pageerror', (error) => conduct.errors.push(error.message));
  page.on('console', (message) => {
    // The browser logs each error response. Tests that cause errors expect these lines.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      conduct.errors.push(message.text());
  });
  page.on('request', (request) => conduct.requests.push(request.url()));
  await page.goto(url);
  return { page, conduct };
}

/** Waits until the page's script has taken over. */
export async function waitUntilLive(page: Page) {
  await page.locator('html[data-connection=live]').waitFor();
}

/** One browser for all tests of a file. */
export function useBrowser() {
  const share = shareInFile(startBrowser);
  const open = async (look?: Look) => openWindow(await share(), look);
  return {
    openWindow: open,
    /** Opens a URL in a window of its own. */
    openPage: async (url: string, look?: Look) => openTab(await open(look), url),
    /** The same, once the page's script has taken over. */
    openLive: async (url: string, look?: Look) => {
      const opened = await openTab(await open(look), url);
      await waitUntilLive(opened.page);
      return opened;
    },
  };
}

/** Violations that axe finds, one line per element. A page should have none. */
export async function findViolations(page: Page): Promise<string[]> {
  // The debugger evaluates it, so the page's Content-Security-Policy need not change. A page that was examined before has it already.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axeSource);
  type Violation = { id: string; help: string; nodes: { html: string; failureSummary?: string }[] };
  const result: Violation[] = await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"], preload: false }).then(({ violations }) => violations)',
  );
  return result.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ html, failureSummary = '' }) => `${id}: ${help}\n  ${html.slice(0, 200)}\n  ${failureSummary}`,
    ),
  );
}

/** Mean width of a character in the widest of usual fonts, in ems. Which fonts a machine has must not decide whether a page fits. */
const wideEms = 0.58;

/** Spaces the letters of a page as wide as a wide font's. Its own font is measured, since it is another one on each machine. */
const widen = `(() => {
  const context = document.createElement('canvas').getContext('2d');
  context.font = '100px ' + getComputedStyle(document.body).fontFamily;
  const text = 'The quick brown fox jumps over the lazy dog, 0123456789';
  const ems = context.measureText(text).width / text.length / 100;
  document.body.style.letterSpacing = Math.max(0, ${wideEms} - ems) + 'em';
})()`;

const clipped =
  "[...document.querySelectorAll('.cards')].filter((one) => one.scrollWidth > one.clientWidth).length";

/** Widths of a window at which the page with a wide font is wider, and would scroll sideways. At the 360 pixels of a phone no table may be wider than its card either. */
export async function findOverflows(page: Page, widths: readonly number[]): Promise<number[]> {
  const found: number[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 740 });
    await page.evaluate(widen);
    const isWider = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    if ((await page.evaluate(isWider)) || (width === 360 && (await page.evaluate(clipped)) !== 0))
      found.push(width);
  }
  return found;
}
