// Copies the files of production into an empty folder: `node deploy/productionInstall.mjs FOLDER`, in an installed and built checkout.
// The Containerfile and its test both run this, so the test sees the files of the image.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { loadedPackages } from './build/build.mjs';
import { chooseEngine, describeMachine } from './engines/chooseEngine.mjs';

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const { platform, arch } = process;
const { modules: abi } = process.versions;
const mebibyte = 1024 * 1024;

/**
 * The embedded ClickHouse takes 566 MB and keeps its data in a folder of one process. Anvil is the chain of the local stack. Scarf only
 * counts installations.
 */
const notInstalled = ['chdb', '@foundry-rs/anvil', '@scarf/scarf'];
/**
 * Types and source maps of packages (source maps of our own sources stay, for stack traces), documentation, a second native engine of
 * uWebSockets.js, which nothing loads, and all builds of Swagger UI but the served one.
 */
const neverRead =
  /\.(?:map|[cm]?ts|md|flow)$|uWebSockets\.js\/(?:docs$|dist\/.*\.node$)|swagger-ui-dist\/(?!package\.json|LICENSE|NOTICE|swagger-ui\.css|swagger-ui-bundle\.js)/;

const target = process.argv[2];
if (target === undefined || (existsSync(target) && readdirSync(target).length > 0))
  fail('name an empty folder, or one that does not exist yet');
if (!existsSync(join(root, 'dist/deploy/miner.js'))) fail('there is no build: run `npm run build` first');
mkdirSync(target, { recursive: true });
copyFileSync(join(root, 'package.json'), join(target, 'package.json'));
report([
  ['dist', copyFiles(join(root, 'dist/deploy'), join(target, 'dist/deploy'), () => true)],
  ...packagesToInstall().map((name) => [name, installPackage(name)]),
]);

/** Packages outside the bundle, with their dependencies in the lock file. */
function packagesToInstall() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const engine = Object.keys(packages[`deploy/engines/${chooseEngine(describeMachine())}`].dependencies);
  const wanted = [...engine, ...loadedPackages.filter((name) => !notInstalled.includes(name))];
  for (const name of wanted) {
    const { dependencies = {} } = packages[`node_modules/${name}`];
    const isNew = (dependency) => !wanted.includes(dependency) && !notInstalled.includes(dependency);
    wanted.push(...Object.keys(dependencies).filter(isNew));
  }
  return wanted;
}

function installPackage(name) {
  const isWanted = (file) => !neverRead.test(file) && !isForeignBinary(file);
  return copyFiles(join(root, 'node_modules', name), join(target, 'node_modules', name), isWanted);
}

/** Copies files and leaves out empty folders. @returns the number of bytes. */
function copyFiles(from, to, isWanted) {
  let bytes = 0;
  let isCreated = false;
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (!isWanted(source)) continue;
    if (entry.isDirectory()) bytes += copyFiles(source, copy, isWanted);
    else {
      if (!isCreated) mkdirSync(to, { recursive: true });
      isCreated = true;
      copyFileSync(source, copy);
      bytes += statSync(copy).size;
    }
  }
  return bytes;
}

/** Whether the file is a native addon for another Node or machine. */
function isForeignBinary(file) {
  if (!file.endsWith('.node')) return false;
  const name = relative(root, file);
  const namesAnother = (own, all) =>
    all.some((one) => one !== own && name.includes(one)) && !name.includes(own);
  if (namesAnother(platform, ['darwin', 'linux', 'win32'])) return true;
  if (namesAnother(`_${arch}_`, ['_x64_', '_arm64_', '_arm_', '_ia32_'])) return true;
  const builtFor = /_(\d+)\.node$/.exec(name)?.[1];
  return builtFor !== undefined && builtFor !== abi;
}

/** Prints sizes, the largest first, and small sizes in one line. */
function report(sizes) {
  const inMegabytes = (bytes) => `${(bytes / mebibyte).toFixed(1).padStart(7)} MiB`;
  const sum = (list) => list.reduce((total, [, bytes]) => total + bytes, 0);
  const sorted = sizes.sort(([, a], [, b]) => b - a);
  const large = sorted.filter(([, bytes]) => bytes >= mebibyte);
  const small = sorted.filter(([, bytes]) => bytes < mebibyte);
  for (const [name, bytes] of large) console.log(`${inMegabytes(bytes)}  ${name}`);
  console.log(`${inMegabytes(sum(small))}  ${small.length} others`);
  console.log(`${inMegabytes(sum(sizes))}  total`);
}

function fail(message) {
  console.error(`productionInstall: ${message}`);
  process.exit(2);
}
