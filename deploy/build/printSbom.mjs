// `npm run sbom`: prints the packages of production as CycloneDX, by the lock file. `--omit=dev` would also leave out production packages that
// development needs, so all are listed and development packages are removed here. Both HTTP engines are listed; a machine has one of them.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..');
const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
const output = execFileSync('npm', args, {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 64 * 1024 * 1024,
});
const document = JSON.parse(output);
const has = ({ properties = [] }, property) =>
  properties.some(({ name, value }) => name === `cdx:npm:package:${property}` && value === 'true');
const referencesOf = (property) =>
  new Set(document.components.filter((one) => has(one, property)).map((one) => one['bom-ref']));
// The workspace of an engine is a folder of this repository; only its dependency is a package.
const [ofDevelopment, workspaces] = [referencesOf('development'), referencesOf('private')];
const isKept = (reference) => !ofDevelopment.has(reference) && !workspaces.has(reference);
const dependenciesOf = new Map(document.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
const components = document.components.filter((component) => isKept(component['bom-ref']));
const dependencies = document.dependencies
  .filter(({ ref }) => isKept(ref))
  .map(({ ref, dependsOn = [] }) => ({
    ref,
    dependsOn: dependsOn
      .flatMap((one) => (workspaces.has(one) ? dependenciesOf.get(one) : [one]))
      .filter(isKept),
  }));
// npm names the application by the folder of the checkout.
const component = { ...document.metadata.component, name: 'mining-activity-read-service' };
const metadata = { ...document.metadata, component };
console.log(JSON.stringify({ ...document, metadata, components, dependencies }, null, 2));
