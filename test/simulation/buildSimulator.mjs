// Bundles the simulator: the whole program, substitutes for everything outside of it, and a fault if one is given.
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { group } from 'd3-array';
import { build } from 'rolldown';
import { smallLimits } from './smallLimits.mjs';

const root = resolve(import.meta.dirname, '../..');
const substitutes = join(import.meta.dirname, 'substitutes');

/** Options of Node.js. Most objects are short-lived, and a larger young generation collects them more cheaply. */
export const nodeOptions = ['--enable-source-maps', '--max-semi-space-size=64'];

/** Modules that the simulation replaces in every import. */
const replaced = new Map([
  ['node:timers/promises', 'timersPromises.ts'],
  ['node:zlib', 'zlib.ts'],
  ['node:crypto', 'crypto.ts'],
  ['node:os', 'os.ts'],
  ['crypto', 'crypto.ts'],
  ['@clickhouse/client', 'clickHouseClient.ts'],
  ['@noble/hashes/sha3', 'sha3.ts'],
  ['@noble/hashes/sha3.js', 'sha3.ts'],
]);

/** Replaced files. The HTTP engine is loaded at run time; the other substitutes count what they hold. */
const replacedFiles = new Map(
  [
    ['http/server/engine/uws.ts', 'simulatedUws.ts'],
    ['http/server/limits/clientCounts.ts', 'heldClientCounts.ts'],
    ['streams/operators/gate.ts', 'heldGate.ts'],
    ['streams/nats/jetStreamPort.ts', 'memoryJetStreamPort.ts'],
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

/** Each process has its own fold versions. A fold refuses states of other versions. */
const versions = [
  ['actors/wheel/counterActors.ts', 'MINER_COUNTER'],
  ['actors/settlement/settlementActors.ts', 'MINER_PIPELINE'],
  ['actors/chain/chainActors.ts', 'MINER_CHAIN'],
].map(([file, stream]) => ({
  file,
  from: `foldVersions.${stream}.version`,
  to: `foldVersions.${stream}.version + countEarlierVersions('${stream}')`,
}));

/** Replaces texts of sources. Each text must stand once in its file. */
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
    input: join(import.meta.dirname, 'simulatorMain.ts'),
    platform: 'node',
    external: ['chdb', 'swagger-ui-dist', '@foundry-rs/anvil'].map((one) => new RegExp(`^${one}(?:/|$)`)),
    plugins: [substitution, replaceTexts([...smallLimits, ...versions, ...(mutation?.replacements ?? [])])],
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
