import { expect, it } from 'vitest';
import { chooseEngine } from '../../deploy/engines/chooseEngine.mjs';

it.each([
  ['Node 24 on Debian 13', 'linux', 'x64', '137', '2.41', 'modern'],
  ['the oldest supported glibc', 'linux', 'x64', '137', '2.38', 'modern'],
  ['a glibc one version older', 'linux', 'x64', '137', '2.37', 'legacy'],
  ['the next major version of glibc', 'linux', 'arm64', '137', '3.0', 'modern'],
  ['Node 20 on Debian 12', 'linux', 'x64', '115', '2.36', 'legacy'],
  ['Node 20 on Debian 13', 'linux', 'x64', '115', '2.41', 'modern'],
  ['Node 22 on macOS', 'darwin', 'arm64', '127', undefined, 'modern'],
  ['Node 25 on Windows', 'win32', 'x64', '141', undefined, 'modern'],
  ['Windows on ARM', 'win32', 'arm64', '137', undefined, 'legacy'],
  ['Node 26', 'linux', 'x64', '147', '2.41', 'legacy'],
  ['musl', 'linux', 'x64', '137', undefined, 'legacy'],
])('the HTTP engine is chosen for %s', (_, platform, arch, abi, glibc, engine) => {
  expect(chooseEngine({ platform, arch, abi, glibc })).toBe(engine);
});
