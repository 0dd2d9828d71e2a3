// Runs before everything else, with nothing installed: `node deploy/build/bootstrap.mjs start|run|test`. Installs missing packages and
// servers, and builds. If nothing is missing or has changed it does nothing. In production (NODE_ENV) it neither installs nor builds.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { chooseEngine, describeMachine, isFrom } from '../engines/chooseEngine.mjs';
import { browserNames } from './browserNames.mjs';

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..');
const purpose = process.argv[2] ?? 'run';

/** The substitute for the native HTTP engine is in the older package. */
const engine = process.env.UWS_USE_FALLBACK === undefined ? chooseEngine(describeMachine()) : 'legacy';
const engineOptions = [`--workspace=deploy/engines/${engine}`, '--include-workspace-root'];

/** Folders that become part of the programs. */
const sources = ['actors', 'streams', 'machines', 'storage', 'http', 'deploy', 'benchmarks', 'test/support'];

const needsNats = purpose === 'test' || !process.env.MINER_NATS_URL;

/** Tests find unpacked programs here. */
const unpackedFolder = join(root, 'node_modules', '.cache', 'miner');

checkNode();
// An operator has chosen and checked what a production machine has.
if (process.env.NODE_ENV === 'production') requireBuild();
else {
  install();
  // Tests build by themselves, however they are started. The bundler is a package of development.
  if (purpose !== 'test' && existsSync(join(root, 'node_modules', 'rolldown'))) buildIfChanged();
}

function install() {
  installPackages();
  if (needsNats) requireProgram('nats-server', { debian: 'nats-server', homebrew: 'nats-server' });
  if (purpose !== 'test') return;
  tryProgram('clickhouse-server', { debian: 'clickhouse-server' });
  tryProgram('haproxy', { debian: 'haproxy', homebrew: 'haproxy' });
  requirePromtool();
  tryNewerNats();
  requireBrowser();
}

function requireBuild() {
  if (existsSync(join(root, 'dist', 'deploy', 'miner.js'))) return;
  fail(
    'NODE_ENV is production, so nothing is installed or built, and dist/ is missing: run `node deploy/build/bootstrap.mjs` without it first',
  );
}

function checkNode() {
  if (isFrom([20, 11], process.versions.node)) return;
  fail(`Node ${process.versions.node} is too old: Node 20.11 or newer is needed (https://nodejs.org).`);
}

/** Runs `npm install`, unless the installed packages already match package.json, package-lock.json and this machine. */
function installPackages() {
  const modules = join(root, 'node_modules');
  const stamp = join(modules, '.miner-installed');
  /** Is there while npm installs. A killed npm leaves it, and half-written packages that the next one takes for complete. */
  const begun = '.miner-installing';
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package.json')))
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(process.versions.modules)
    .update(engine)
    .digest('hex');
  if (existsSync(join(modules, begun)))
    for (const name of readdirSync(modules).filter((one) => one !== begun))
      rmSync(join(modules, name), { recursive: true });
  else if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.log('bootstrap: installing npm packages (one to three minutes, once)');
  mkdirSync(modules, { recursive: true });
  writeFileSync(join(modules, begun), '');
  // Not `npm ci`, which refuses a lock file with the optional packages of one platform only.
  const options = ['--no-save', '--no-audit', '--no-fund', ...engineOptions];
  const { status, signal, stdout, stderr } = spawnSync('npm', ['install', ...options], {
    cwd: root,
    encoding: 'utf8',
  });
  // Unless it is killed, npm undoes what it could not complete.
  if (signal === null) rmSync(join(modules, begun), { force: true });
  if (status !== 0) fail(`npm could not install the packages:\n${stdout ?? ''}${stderr ?? ''}`);
  writeFileSync(stamp, wanted);
}

function requireProgram(program, packages) {
  if (tryProgram(program, packages)) return;
  fail(
    `${program} is needed and could not be installed.\n` +
      `  Debian, Ubuntu:  sudo apt-get install ${packages.debian}\n` +
      `  macOS:           brew install ${packages.homebrew}\n` +
      '  or set MINER_NATS_URL to a NATS server with JetStream.',
  );
}

/** Promtool checks the rules of Prometheus. It has its own package from Debian 13 on; the older one would start a Prometheus, so it is only unpacked. */
function requirePromtool() {
  const packages = { debian: 'promtool', homebrew: 'prometheus' };
  if (isUnpacked('prometheus') || tryProgram('promtool', packages) || unpack('prometheus')) return;
  fail(
    'promtool is needed, which checks the alerts, and could not be unpacked.\n' +
      '  Debian 13:       sudo apt-get install promtool\n' +
      '  Debian 12:       sudo apt-get install prometheus   (starts a server on port 9090)\n' +
      '  macOS:           brew install prometheus',
  );
}

/**
 * Clusters are tested with nats-server 2.10 or newer, which syncs before it acknowledges. Debian 12 has 2.9, so this one package is taken from the next release,
 * signed like all of Debian's. The installed server stays unchanged, and is tested if the newer one is not available.
 */
function tryNewerNats() {
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  if (isUnpacked('nats-server') || !existsSync(keyring) || !onPath('apt-get')) return;
  if (!/^VERSION_CODENAME=bookworm$/m.test(readFileSync('/etc/os-release', 'utf8'))) return;
  // The mirror of this machine's own release.
  const mirror = spawnSync('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Codename: bookworm'], {
    encoding: 'utf8',
  }).stdout.split('\n', 1)[0];
  if (mirror !== '') unpack('nats-server', `deb [signed-by=${keyring}] ${mirror} trixie main\n`);
}

function isUnpacked(name) {
  return existsSync(join(unpackedFolder, name));
}

/** Unpacks a Debian package where the tests look for it, and changes nothing of the system. Returns whether it is there now. */
function unpack(name, source = null) {
  if (!onPath('apt-get') || !onPath('dpkg')) return false;
  console.log(`bootstrap: unpacking the package ${name} for the tests`);
  const apt = join(unpackedFolder, 'apt');
  for (const path of ['state/lists/partial', 'cache/archives/partial', 'download'])
    mkdirSync(join(apt, path), { recursive: true });
  const places = { State: `${apt}/state`, Cache: `${apt}/cache` };
  if (source !== null) {
    const list = join(apt, 'sources.list');
    writeFileSync(list, source);
    Object.assign(places, { 'Etc::sourcelist': list, 'Etc::sourceparts': '/dev/null' });
  }
  const options = Object.entries(places).flatMap(([place, value]) => ['-o', `Dir::${place}=${value}`]);
  const run = (command, ...args) =>
    spawnSync(command, args, { cwd: join(apt, 'download'), stdio: 'ignore', timeout: 120_000 }).status === 0;
  if (run('apt-get', ...options, 'update') && run('apt-get', ...options, 'download', name))
    for (const file of readdirSync(join(apt, 'download')))
      run('dpkg', '-x', file, join(unpackedFolder, name));
  rmSync(apt, { recursive: true, force: true });
  return isUnpacked(name);
}

/** The tests of the explorer use the system's browser, since playwright's would be a download past the package manager. */
function requireBrowser() {
  if (browserNames.some(isInstalled)) return;
  if (tryProgram('chromium-headless-shell', { debian: 'chromium-headless-shell' })) return;
  if (tryProgram('chromium', { debian: 'chromium' })) return;
  fail(
    'a browser is needed, which shows the pages to the tests, and could not be installed.\n' +
      '  Debian:   sudo apt-get install chromium-headless-shell   (or chromium)\n' +
      '  others:   Chromium or Chrome, as one of these on the PATH: ' +
      browserNames.join(', '),
  );
}

/** Installs a program with the system's package manager if it is missing. Returns whether it is installed now. */
function tryProgram(program, packages) {
  if (isInstalled(program)) return true;
  for (const [command, ...args] of installers(packages)) {
    console.log(`bootstrap: ${program} is missing; installing it with ${command}`);
    const { status } = spawnSync(command, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status === 0 && isInstalled(program)) return true;
  }
  return false;
}

/** Never prompts for a password: without a terminal the script would hang. */
function asRoot() {
  return process.getuid?.() === 0 ? [] : ['sudo', '-n'];
}

function installers(packages) {
  const [program = 'apt-get'] = asRoot();
  const commands = [];
  if (packages.debian && onPath('apt-get') && onPath(program)) {
    const install = ['apt-get', 'install', '-y', '--no-install-recommends', packages.debian];
    commands.push([...asRoot(), ...install], [...asRoot(), 'apt-get', 'update'], [...asRoot(), ...install]);
  }
  if (packages.homebrew && onPath('brew')) commands.push(['brew', 'install', packages.homebrew]);
  return commands;
}

function isInstalled(program) {
  // System packages put servers into folders outside an ordinary PATH.
  return (
    onPath(program) || ['/usr/sbin', '/usr/local/sbin'].some((folder) => existsSync(join(folder, program)))
  );
}

function onPath(program) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && existsSync(join(folder, program)));
}

function buildIfChanged() {
  const stamp = join(root, 'dist', '.miner-built');
  const isBuilt = [stamp, 'dist/deploy/miner.js', 'dist/tools/bench.js'].every((path) =>
    existsSync(resolve(root, path)),
  );
  // Before the build, which may miss what is saved meanwhile.
  const current = describeSources();
  if (isBuilt && readFileSync(stamp, 'utf8') === current) return;
  console.error('bootstrap: building (some seconds, after each change)');
  build();
  writeFileSync(stamp, current);
}

function describeSources() {
  const paths = ['package.json', 'package-lock.json'];
  for (const folder of sources)
    for (const path of readdirSync(join(root, folder), { recursive: true })) paths.push(join(folder, path));
  const hash = createHash('sha256');
  for (const path of paths) {
    // Editors leave links behind that point nowhere.
    const file = statSync(join(root, path), { throwIfNoEntry: false });
    const isSource = file?.isFile() && !path.startsWith('benchmarks/results/');
    if (isSource) hash.update(`${path} ${file.mtimeMs} ${file.size}\n`);
  }
  return hash.digest('hex');
}

function build() {
  try {
    execFileSync(process.execPath, [join(import.meta.dirname, 'build.mjs'), 'deploy', 'tools'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    fail(`the build failed:\n${error.stdout ?? ''}${error.stderr ?? ''}`);
  }
}

function fail(message) {
  console.error(`bootstrap: ${message}`);
  process.exit(1);
}
