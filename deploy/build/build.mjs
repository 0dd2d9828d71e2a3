// `npm run build`, or `node deploy/build/build.mjs FOLDER...` for some folders of `dist`, such as `deploy` for the service alone: bundles the
// programs into `dist`. Types are not checked here (`npm run types`).
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { explorerBundles } from '../../http/explorer/bundle.mjs';
import { guides } from '../../http/guides/bundle.mjs';

const root = resolve(import.meta.dirname, '../..');

/**
 * Packages that stay in `node_modules`, since they are native programs or served files. All others become part of the bundle: Node reads a few large
 * files in half the time of six hundred small ones.
 */
const loadedPackages = ['chdb', 'swagger-ui-dist', '@foundry-rs/anvil'];

/** Programs by the folder they are built into. */
const programs = {
  deploy: ['deploy/miner.ts', 'deploy/probeIngest.ts'],
  tools: [
    'benchmarks/bench.ts',
    'benchmarks/bareConsumer.ts',
    'benchmarks/bareServer.ts',
    'benchmarks/liveLoad.ts',
    'benchmarks/storingLoop.ts',
    'benchmarks/years/snapshotProcess.ts',
  ],
};

/** Options of the bundler for one folder of `dist`; explorer and guides are served by the programs of `deploy`. */
export function bundleOptions(folder) {
  const explorer = folder === 'deploy' ? explorerBundles(join(root, 'dist', folder)) : [];
  return [programOptions(folder), ...explorer];
}

function programOptions(folder) {
  return {
    cwd: root,
    input: programs[folder],
    platform: 'node',
    tsconfig: false,
    transform: { target: 'es2023' },
    external: loadedPackages.map((name) => new RegExp(`^${name}(?:/|$)`)),
    logLevel: 'warn',
    plugins: folder === 'deploy' ? [guides()] : [],
    output: {
      dir: join(root, 'dist', folder),
      // All files lie in one folder, so relative paths do not depend on how the bundle is split.
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      sourcemap: true,
      sourcemapExcludeSources: true,
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folders = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(programs);
  await buildFolders(folders);
}

/** Overwrites the folders first and then removes files of former builds, since a program of this checkout may be starting meanwhile. */
async function buildFolders(folders) {
  const bundles = folders.flatMap(bundleOptions);
  const built = await build(bundles);
  const files = built.flatMap(({ output }, index) =>
    output.map(({ fileName }) => join(bundles[index].output.dir, fileName)),
  );
  for (const folder of folders) {
    for (const name of readdirSync(join(root, 'dist', folder), { recursive: true })) {
      const path = join(root, 'dist', folder, name);
      if (statSync(path).isFile() && !files.includes(path)) rmSync(path);
    }
  }
}
