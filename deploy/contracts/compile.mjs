// Compiles the contracts with npm's solc: `node deploy/contracts/compile.mjs`. Writes the ABIs that the service reads with
// (actors/chain/spans/contractAbis.ts) and the artifacts for a deployment (deploy/contracts/artifacts.json). Both are committed, with digests of inputs and
// outputs, which a test compares. `--check` compiles again and compares the files, which takes half a minute of a core.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const here = fileURLToPath(new URL('.', import.meta.url));
const root = resolve(here, '../..');
/** Contracts whose artifacts are kept, with the name of their ABI if the service reads it. */
const kept = {
  SettlementCore: 'coreAbi',
  Mining: 'miningAbi',
  Collection: 'collectionAbi',
  RewardToken: 'tokenAbi',
  TokenFactory: 'tokenFactoryAbi',
  TimelockController: 'timelockAbi',
  TransparentUpgradeableProxy: 'proxyAbi',
  ProxyAdmin: 'proxyAdminAbi',
};

const settings = {
  optimizer: { enabled: true, runs: 200 },
  viaIR: true,
  evmVersion: 'cancun',
  metadata: { bytecodeHash: 'none' },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'storageLayout'] } },
};
const abisPath = join(root, 'actors/chain/spans/contractAbis.ts');
const artifactsPath = join(here, 'artifacts.json');

function compileContracts() {
  const solc = require('solc');
  const sources = Object.fromEntries(ownSources().map((file) => [file, { content: readSource(file) }]));
  const input = { language: 'Solidity', sources, settings };
  const find = (path) => ({ contents: readSource(path) });
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: find }));
  const problems = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (problems.length > 0) throw new Error(problems.map((one) => one.formattedMessage).join('\n'));
  const contracts = Object.assign({}, ...Object.values(output.contracts));
  const abis = collectAbis(contracts);
  const made = collectArtifacts(contracts);
  const digests = { inputs: digestInputs(), made: digestMade(abis, made) };
  return { abis, artifacts: `${JSON.stringify({ ...digests, contracts: made }, null, 2)}\n` };
}

/** Whether the committed files are unchanged, and made from the present sources, packages, compiler and settings. */
export function isUpToDate() {
  const { inputs, made, contracts } = JSON.parse(readFileSync(artifactsPath, 'utf8'));
  return inputs === digestInputs() && made === digestMade(readFileSync(abisPath, 'utf8'), contracts);
}

const ownSources = () =>
  readdirSync(here)
    .filter((file) => file.endsWith('.sol'))
    .sort();
const readSource = (path) =>
  readFileSync(path.includes('/') ? require.resolve(path) : join(here, path), 'utf8');
const digest = (content) => `0x${createHash('sha256').update(JSON.stringify(content)).digest('hex')}`;
const digestMade = (abis, contracts) => digest([abis, contracts]);
const digestInputs = () => {
  const versions = ['solc', '@openzeppelin/contracts'].map((name) => require(`${name}/package.json`).version);
  return digest([ownSources().map((file) => [file, readSource(file)]), versions, settings]);
};

function collectAbis(contracts) {
  const lines = [
    '// Made by `node deploy/contracts/compile.mjs` from the contracts; not edited by hand.',
    ...Object.entries(kept).flatMap(([name, abi]) => [
      '',
      `export const ${abi} = ${JSON.stringify(contracts[name].abi)} as const;`,
    ]),
    '',
  ];
  return lines.join('\n');
}

function collectArtifacts(contracts) {
  return Object.fromEntries(
    Object.keys(kept).map((name) => {
      const { evm, storageLayout } = contracts[name];
      const bytecode = `0x${evm.bytecode.object}`;
      return [name, { bytecode, storageLayoutDigest: layoutDigest(storageLayout) }];
    }),
  );
}

/** SHA-256 of each variable's place and type. Compatible layouts have the same digest. */
function layoutDigest({ storage }) {
  const layout = storage.map(({ label, slot, offset, type }) => [
    label,
    slot,
    offset,
    type.replace(/\d+(?=_)/g, ''),
  ]);
  return digest(layout);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { abis, artifacts } = compileContracts();
  if (process.argv[2] !== '--check') {
    writeFileSync(abisPath, abis);
    writeFileSync(artifactsPath, artifacts);
  } else if (readFileSync(abisPath, 'utf8') !== abis || readFileSync(artifactsPath, 'utf8') !== artifacts) {
    console.error(
      'what is committed is not what the contracts compile to: run node deploy/contracts/compile.mjs',
    );
    process.exitCode = 1;
  }
}
