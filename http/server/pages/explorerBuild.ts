import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, join } from 'node:path';
import { once } from '../../../actors/caching/once.ts';
import type { FrameRequest, RefusalRequest, RenderPage } from '../../explorer/page.ts';
import { type PreparedResponse, prepareDocument } from '../answers/preparedResponse.ts';

const immutable = 'public, max-age=31536000, immutable';
const contentTypes: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/**
 * Files and renderer of the explorer. Read at the first request, since most processes never get one.
 *
 * @throws Error if the explorer is not built.
 */
export const loadExplorerBuild = once(() => {
  const folder = findBuiltFolder('explorer', 'public/names.json');
  const names: string[] = JSON.parse(readFileSync(join(folder, 'public/names.json'), 'utf8'));
  /** Responses by file name. */
  const responses: ReadonlyMap<string, PreparedResponse> = new Map(
    names.map((name): [string, PreparedResponse] => {
      const contentType = contentTypes[extname(name)] ?? 'application/octet-stream';
      const bytes = readFileSync(join(folder, 'public', name));
      return [name, prepareDocument(bytes, { contentType, cacheControl: immutable })];
    }),
  );
  // Built from `http/explorer/renderPage.tsx`, whose types check this export.
  const { renderPage, renderFrame, renderRefusal } = createRequire(import.meta.url)(
    join(folder, 'renderPage.cjs'),
  ) as {
    renderPage: RenderPage;
    renderFrame: (request: FrameRequest) => string;
    renderRefusal: (request: RefusalRequest) => string | null;
  };
  /** Paths by plain name: `page.js` is `/explorer/page.<hash>.js`. */
  const files: Readonly<Record<string, string>> = Object.fromEntries(
    names.map((name) => [name.replace(/\.[^.]+(?=\.[^.]+$)/, ''), `/explorer/${name}`]),
  );
  /** The icon of the pages. Browsers recognise it as SVG by its type, not by its name. */
  const readIcon = () => readFileSync(join(folder, 'public', basename(files['wheel-turning.svg'] ?? '')));
  return { renderPage, renderFrame, renderRefusal, files, responses, readIcon };
});

/**
 * Finds a folder that the build has written: next to the bundle of the service, or in the build's folder if the sources run directly, as in tests.
 *
 * @param file a file that exists once the folder is complete.
 * @throws Error if the folder is not built.
 */
export function findBuiltFolder(name: string, file: string): string {
  const folders = [join(import.meta.dirname, name), join(import.meta.dirname, '../../../dist/deploy', name)];
  const found = folders.find((folder) => existsSync(join(folder, file)));
  if (found === undefined)
    throw new Error(`${name} is not built: expected it in ${folders.join(' or ')}; run \`npm run build\``);
  return found;
}
