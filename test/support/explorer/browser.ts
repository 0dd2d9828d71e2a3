import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { browserNames } from '../../../deploy/build/browserNames.mjs';
import { whenFinished } from '../processes/lifetime.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The system's browser: the one of playwright is a download of its own. */
function findBrowser(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = browserNames.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = candidates.find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(`a browser is needed: none of ${browserNames.join(', ')} is on the PATH`);
  return found;
}

/** A browser, closed with the test, or after the last test of the file where it is shared. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findBrowser(),
    // Within a container it runs as root, and has no room for shared memory.
    // Drawn by the processor either way: without a process that pretends to be a graphics card it takes less of it.
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
}

/** A window without anything of another one: its own storage, tabs that share it. */
export async function openWindow(browser: Browser, look: Look = {}): Promise<BrowserContext> {
  const { width = 1440, scheme = 'light', isScriptAllowed = true, hasTouch = false } = look;
  const context = await browser.newContext({
    viewport: { width, height: width < 600 ? 740 : 900 },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    javaScriptEnabled: isScriptAllowed,
    hasTouch,
  });
  // Only what hangs runs into it: a stream that a busy service refuses is asked for again after minutes.
  context.setDefaultTimeout(480_000);
  whenFinished(() => context.close());
  return context;
}

/** Where pictures go that `npm run screenshots` asks for; null in an ordinary run. */
export const picturesFolder = process.env.MINER_SCREENSHOTS ?? null;

/** Where pictures are asked for: all of the page, down to its end. */
export async function savePicture(page: Page, name: string) {
  if (picturesFolder !== null)
    await page.screenshot({ path: join(picturesFolder, `${name}.png`), fullPage: true });
}

/** What a page did that it must not: errors, and requests to elsewhere. */
interface Conduct {
  readonly errors: string[];
  readonly requests: string[];
}

/** Opens an address, and waits until the page lives (where it has script). */
export async function openPage(
  context: BrowserContext,
  url: string,
): Promise<{ page: Page; conduct: Conduct }> {
  const page = await context.newPage();
  const conduct: Conduct = { errors: [], requests: [] };
  page.on('pageerror', (error) => conduct.errors.push(error.message));
  page.on('console', (message) => {
    // The browser writes a line for each answer that is an error; those are expected where a test causes them.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      conduct.errors.push(message.text());
  });
  page.on('request', (request) => conduct.requests.push(request.url()));
  await page.goto(url);
  return { page, conduct };
}

/** Until the browser's program has taken over. */
export async function waitUntilLive(page: Page) {
  await page.locator('.liveness').waitFor();
}

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe finds, one line per element; none is what a page should have. */
export async function findViolations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, so that the page's Content-Security-Policy is left as it is. A page that was examined before has it.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axeSource);
  const result = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"], preload: false }).then(({ violations }) => violations)',
  )) as Violation[];
  return result.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ html, failureSummary = '' }) => `${id}: ${help}\n  ${html.slice(0, 200)}\n  ${failureSummary}`,
    ),
  );
}

/** Whether the page is wider than its window, so that it would scroll sideways. */
export async function findOverflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
