// Builds the explorer's bundles, for `deploy/build/build.mjs`: the browser's script with its styles and icons, under names that change with
// their contents, and the program that renders pages on the server.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const folder = import.meta.dirname;
const root = join(folder, '../..');
const jsx = { runtime: 'automatic', importSource: 'preact' };

/** @param {string} directory folder of the service's bundle, which gets a folder for the explorer. */
export function explorerBundles(directory) {
  const shared = { cwd: root, logLevel: 'warn', tsconfig: false, transform: { target: 'es2022', jsx } };
  const program = {
    ...shared,
    input: { page: relative(root, join(folder, 'browser/main.ts')) },
    platform: 'browser',
    plugins: [staticFiles()],
    output: {
      dir: join(directory, 'explorer', 'public'),
      entryFileNames: '[name].[hash].js',
      assetFileNames: '[name].[hash][extname]',
      format: 'iife',
      minify: true,
      comments: false,
    },
  };
  const renderer = {
    ...shared,
    input: { renderPage: relative(root, join(folder, 'renderPage.tsx')) },
    platform: 'node',
    // CommonJS can be loaded synchronously, at the first request.
    output: { dir: join(directory, 'explorer'), entryFileNames: '[name].cjs', format: 'cjs' },
  };
  return [program, renderer];
}

/** Styles, icons and pictures are served unchanged. */
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
    /** Names of this build's files. In watch mode, files of earlier builds stay in the folder. */
    generateBundle(_options, bundle) {
      this.emitFile({ type: 'asset', fileName: 'names.json', source: JSON.stringify(Object.keys(bundle)) });
    },
  };
}
