// The bundles of the explorer, built by `deploy/build/build.mjs` together with the service that serves them: the browser's program with its styles
// and icons under names that change with their contents, and the program that renders pages on the server.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const folder = import.meta.dirname;
const root = join(folder, '../..');
const jsx = { runtime: 'automatic', importSource: 'preact' };

/** @param {string} directory where the service's own bundle is; the explorer is in a folder of it. */
export function explorerBundles(directory) {
  // The options of the compiler are not read: they are not in the folder that an image is built in.
  const shared = { cwd: root, logLevel: 'warn', tsconfig: false, transform: { target: 'es2022', jsx } };
  const program = {
    ...shared,
    input: { explorer: relative(root, join(folder, 'browser/main.tsx')) },
    platform: 'browser',
    plugins: [staticFiles()],
    output: {
      dir: join(directory, 'explorer', 'public'),
      entryFileNames: '[name].[hash].js',
      assetFileNames: '[name].[hash][extname]',
      format: 'iife',
      minify: true,
    },
  };
  const renderer = {
    ...shared,
    input: { renderPage: relative(root, join(folder, 'renderPage.tsx')) },
    platform: 'node',
    // CommonJS, since that can be loaded at the first request without a request having to wait for it.
    output: { dir: join(directory, 'explorer'), entryFileNames: '[name].cjs', format: 'cjs' },
  };
  return [program, renderer];
}

/** Styles, icons and pictures are served as they are. */
function staticFiles() {
  const files = [
    join(folder, 'style.css'),
    ...readdirSync(join(folder, 'files')).map((name) => join(folder, 'files', name)),
  ];
  return {
    name: 'static files',
    buildStart() {
      for (const file of files) {
        this.addWatchFile(file);
        this.emitFile({ type: 'asset', name: file.split('/').at(-1), source: readFileSync(file) });
      }
    },
    /** The names of this build: while one watches for changes, files of former builds stay beside it. */
    generateBundle(_options, bundle) {
      this.emitFile({ type: 'asset', fileName: 'names.json', source: JSON.stringify(Object.keys(bundle)) });
    },
  };
}
