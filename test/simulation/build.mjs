// Bundles the simulator: the whole program with substitutes for what lies outside of it, and with a fault put into it where one is named.
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { group } from 'd3-array';
import { build } from 'rolldown';
import { smallLimits } from './smallLimits.mjs';

const root = resolve(import.meta.dirname, '../..');
const substitutes = join(import.meta.dirname, 'substitutes');

/** How the program is run: most of what it makes is garbage soon, and costs less to collect in larger pieces. */
export const nodeOptions = ['--enable-source-maps', '--max-semi-space-size=64'];

/** Modules that the simulation replaces, wherever they are imported. */
const replaced = new Map([
  ['node:timers/promises', 'timersPromises.ts'],
  ['node:zlib', 'zlib.ts'],
  ['node:crypto', 'crypto.ts'],
  ['node:net', 'net.ts'],
  ['node:os', 'os.ts'],
  ['net', 'net.ts'],
  ['crypto', 'crypto.ts'],
  ['@clickhouse/client', 'clickHouseClient.ts'],
  ['@noble/hashes/sha3', 'sha3.ts'],
  ['@noble/hashes/sha3.js', 'sha3.ts'],
]);

/** Files that are replaced: the engine of HTTP is loaded at run time; of the others is counted what they hold. */
const replacedFiles = new Map(
  [
    ['http/server/engine/uws.ts', 'uws.ts'],
    ['http/server/limits/clientCounts.ts', 'clientCounts.ts'],
    ['streams/operators/gate.ts', 'gate.ts'],
  ].map(([file, name]) => [join(root, file), name]),
);

const substitution = {
  name: 'substitutes',
  resolveId(source, importer) {
    const isSubstitute = importer?.startsWith(substitutes);
    const name = replaced.get(source);
    if (name !== undefined && !isSubstitute) return join(substitutes, name);
    const file = importer && !isSubstitute ? replacedFiles.get(resolve(importer, '..', source)) : undefined;
    if (file !== undefined) return join(substitutes, file);
    if (importer?.includes('/viem/') && source.endsWith('/uid.js')) return join(substitutes, 'uid.ts');
    return null;
  },
};

/** A process folds as the version of the program that it runs: a fold takes no state of another version of itself. */
const versions = [
  { file: 'actors/wheel/counterActors.ts', version: 'counterFoldVersion', stream: 'MINER_COUNTER' },
  {
    file: 'actors/settlement/settlementActors.ts',
    version: 'settlementFoldVersion',
    stream: 'MINER_PIPELINE',
  },
  { file: 'actors/chain/chainActors.ts', version: 'spanFoldVersion', stream: 'MINER_CHAIN' },
].map(({ file, version, stream }) => ({
  file,
  from: `identifyFold(${version}, {`,
  to: `identifyFold(${version} + countEarlierVersions('${stream}'), {`,
}));

/** Of those who listen to the feed is counted how many there are. */
const counted = [
  {
    file: 'actors/views/feed/feedNews.ts',
    from: 'return () => listeners.delete(listener);',
    to: 'const release = holdListener();\n      return () => {\n        release();\n        return listeners.delete(listener);\n      };',
  },
];

/** Changes sources: one text becomes another, which has to be there once. */
function replaceTexts(replacements) {
  const byPath = group(replacements, ({ file }) => join(root, file));
  return {
    name: 'replacements',
    load(id) {
      const own = byPath.get(id);
      if (own === undefined) return null;
      const code = own.reduce(replaceText, readFileSync(id, 'utf8'));
      return { code, moduleType: id.endsWith('.tsx') ? 'tsx' : 'ts' };
    },
  };
}

function replaceText(source, { file, from, to }) {
  if (source.split(from).length !== 2) throw new Error(`${file} does not have this text once: ${from}`);
  return source.replace(from, () => to);
}

/** @returns path of the program. */
export async function buildSimulator({ mutation = null, name = 'simulate' } = {}) {
  const outDir = join(root, 'dist', 'simulation');
  await build({
    cwd: root,
    input: join(import.meta.dirname, 'main.ts'),
    platform: 'node',
    external: ['chdb', 'swagger-ui-dist', '@foundry-rs/anvil', 'bufferutil', 'utf-8-validate'].map(
      (one) => new RegExp(`^${one}(?:/|$)`),
    ),
    plugins: [
      substitution,
      replaceTexts([...smallLimits, ...versions, ...counted, ...(mutation?.replacements ?? [])]),
    ],
    logLevel: 'warn',
    output: {
      dir: outDir,
      entryFileNames: `${name}.js`,
      codeSplitting: false,
      sourcemap: true,
      sourcemapExcludeSources: true,
    },
  });
  return relative(process.cwd(), join(outDir, `${name}.js`));
}
