// Puts what runs in production into an empty folder: `node deploy/productionInstall.mjs FOLDER`, in a checkout that is installed and
// built. The Containerfile and its test both run this, so that what is tested is what is in the image.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const { platform, arch } = process;
const { modules: abi } = process.versions;
const mebibyte = 1024 * 1024;

/** Compiled, and of no use there: benchmarks, the local stack with its simulation and contracts, the generator of the dashboard. */
const developmentOnly = [
  'benchmarks',
  'deploy/commands/runLocal',
  'deploy/contracts',
  'deploy/grafana',
  'deploy/local',
  'deploy/machineDiagrams',
  'deploy/writeMachineDiagrams',
];
/** A process that is given no NATS starts its own with these, and says what is missing. */
const needed = ['deploy/local', 'deploy/local/childServer', 'deploy/local/localNats'];
/** Types and source maps of packages; those of our own sources stay, since they name the lines of stack traces. */
const neverRead = /\.(?:map|[cm]?ts|md|flow|tsbuildinfo)$/;
/** Folders of a package beside what it exports; `_cjs` is viem's and ox's second copy of themselves, for programs that are no modules. */
const besides = [
  '.github',
  '_cjs',
  'benchmark',
  'benchmarks',
  'docs',
  'example',
  'examples',
  'node_modules',
  'test',
  'tests',
];

const target = process.argv[2];
if (target === undefined || (existsSync(target) && readdirSync(target).length > 0))
  fail('give an empty folder, or one that does not exist yet');
if (!existsSync(join(root, 'dist/deploy/miner.js'))) fail('there is no build: run `npm run build` first');
mkdirSync(target, { recursive: true });
copyFileSync(join(root, 'package.json'), join(target, 'package.json'));
const sizes = [
  ['dist', copyFiles(join(root, 'dist'), join(target, 'dist'), isOfService)],
  ...productionPackages().map((path) => [path.replace(/^.*node_modules\//, ''), installPackage(path)]),
];
standInForEmbeddedDatabase();
report(sizes);

function isOfService(path) {
  const name = relative(join(root, 'dist'), path).replaceAll(sep, '/');
  const module = name.replace(/\.(?:js|js\.map)$/, '');
  if (name === '.tsbuildinfo') return false;
  if (needed.includes(module)) return true;
  return !developmentOnly.some((one) => module === one || module.startsWith(`${one}/`));
}

/** What npm installs with `--omit=dev --omit=optional`, by its own marks in the lock file. */
function productionPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages).flatMap(([path, { dev, optional, devOptional }]) =>
    path === '' || dev || optional || devOptional || path === 'node_modules/chdb' ? [] : [path],
  );
}

function installPackage(path) {
  const skipped = new Set(besides.map((name) => join(root, path, name)));
  const isWanted = (file) => !skipped.has(file) && !neverRead.test(file) && !isForeignBinary(file);
  return copyFiles(join(root, path), join(target, path), isWanted);
}

/** Folders that would be empty are left out, too. @returns bytes that were copied. */
function copyFiles(from, to, isWanted) {
  let bytes = 0;
  let isMade = false;
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (!isWanted(source)) continue;
    if (entry.isDirectory()) bytes += copyFiles(source, copy, isWanted);
    else {
      if (!isMade) mkdirSync(to, { recursive: true });
      isMade = true;
      copyFileSync(source, copy);
      bytes += statSync(copy).size;
    }
  }
  return bytes;
}

/** A native addon that this Node on this machine never loads. */
function isForeignBinary(file) {
  if (!file.endsWith('.node')) return false;
  const name = relative(root, file);
  const ofOther = (own, all) => all.some((one) => one !== own && name.includes(one)) && !name.includes(own);
  if (ofOther(platform, ['darwin', 'linux', 'win32'])) return true;
  if (ofOther(`_${arch}_`, ['_x64_', '_arm64_', '_arm_', '_ia32_'])) return true;
  const builtFor = /_(\d+)\.node$/.exec(name)?.[1];
  return builtFor !== undefined && builtFor !== abi;
}

/**
 * The embedded ClickHouse is 566 MB, and keeps its data in a folder of one process: not what several machines share. Without it the service
 * loads as before, and says what it needs where it is given no server.
 */
function standInForEmbeddedDatabase() {
  const folder = join(target, 'node_modules/chdb');
  mkdirSync(folder, { recursive: true });
  const manifest = {
    name: 'chdb',
    version: '0.0.0',
    type: 'module',
    exports: { './connection': './connection.js' },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest)}\n`);
  writeFileSync(
    join(folder, 'connection.js'),
    "export function createChdbConnection() {\n  throw new Error('there is no embedded ClickHouse in this installation: set MINER_CLICKHOUSE_URL');\n}\n",
  );
}

/** By size, the largest first; what is small in one line. */
function report(sizes) {
  const inMegabytes = (bytes) => `${(bytes / mebibyte).toFixed(1).padStart(7)} MiB`;
  const sum = (list) => list.reduce((total, [, bytes]) => total + bytes, 0);
  const sorted = sizes.sort(([, a], [, b]) => b - a);
  const large = sorted.filter(([, bytes]) => bytes >= mebibyte);
  const small = sorted.filter(([, bytes]) => bytes < mebibyte);
  for (const [name, bytes] of large) console.log(`${inMegabytes(bytes)}  ${name}`);
  console.log(`${inMegabytes(sum(small))}  ${small.length} others`);
  console.log(`${inMegabytes(sum(sizes))}  in all`);
}

function fail(message) {
  console.error(`productionInstall: ${message}`);
  process.exit(2);
}
