// `npm run sbom`: prints what production has as CycloneDX, by the lock file. With `--omit=dev` npm would leave out packages that development needs,
// too, so all are listed and those of development alone are removed here.
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
const isOfDevelopment = ({ properties = [] }) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');
const removed = new Set(document.components.filter(isOfDevelopment).map((component) => component['bom-ref']));
const isKept = (reference) => !removed.has(reference);
const components = document.components.filter((component) => isKept(component['bom-ref']));
const dependencies = document.dependencies
  .filter(({ ref }) => isKept(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isKept) }));
// npm names the application by the folder of the checkout.
const component = { ...document.metadata.component, name: 'mining-activity-read-service' };
const metadata = { ...document.metadata, component };
console.log(JSON.stringify({ ...document, metadata, components, dependencies }, null, 2));
