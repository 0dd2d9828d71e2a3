// Compiles the contracts with npm's solc: `node deploy/contracts/compile.mjs`. Writes the ABIs that the service reads with
// (actors/chain/contractAbis.ts) and what a deployment needs (deploy/contracts/artifacts.json). Both are committed; a test
// compiles again and compares.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const here = fileURLToPath(new URL('.', import.meta.url));
const root = resolve(here, '../..');
/** Contracts whose artifacts are kept, with the name of their ABI where the service reads it. */
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

/** What the committed files are to be. */
export function compileContracts() {
  const solc = require('solc');
  const sources = Object.fromEntries(
    readdirSync(here)
      .filter((file) => file.endsWith('.sol'))
      .map((file) => [file, { content: readFileSync(join(here, file), 'utf8') }]),
  );
  const input = {
    language: 'Solidity',
    sources,
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: true,
      evmVersion: 'cancun',
      metadata: { bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'storageLayout'] } },
    },
  };
  const find = (path) => ({ contents: readFileSync(require.resolve(path), 'utf8') });
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: find }));
  const problems = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (problems.length > 0) throw new Error(problems.map((one) => one.formattedMessage).join('\n'));
  const contracts = Object.assign({}, ...Object.values(output.contracts));
  return { abis: collectAbis(contracts), artifacts: collectArtifacts(contracts) };
}

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
  const artifacts = Object.fromEntries(
    Object.keys(kept).map((name) => {
      const { evm, storageLayout } = contracts[name];
      const bytecode = `0x${evm.bytecode.object}`;
      return [name, { bytecode, storageLayoutDigest: layoutDigest(storageLayout) }];
    }),
  );
  return `${JSON.stringify(artifacts, null, 2)}\n`;
}

/** SHA-256 of where each variable lies and of which type it is: the same for a layout that is compatible. */
function layoutDigest({ storage }) {
  const layout = storage.map(({ label, slot, offset, type }) => [
    label,
    slot,
    offset,
    type.replace(/\d+(?=_)/g, ''),
  ]);
  return `0x${createHash('sha256').update(JSON.stringify(layout)).digest('hex')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { abis, artifacts } = compileContracts();
  writeFileSync(join(root, 'actors/chain/contractAbis.ts'), abis);
  writeFileSync(join(here, 'artifacts.json'), artifacts);
}
