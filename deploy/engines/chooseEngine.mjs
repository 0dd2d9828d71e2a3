// The HTTP engine comes from one of two packages, each the dependency of a workspace next to this file. `npm` cannot choose between them, since a lock file
// knows neither the version of Node nor the version of glibc.

/** ABIs of the Node versions that the modern engine has programs for: Node 20, 22, 24 and 25. */
const modernAbis = ['115', '127', '137', '141'];
const modernPlatforms = ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64', 'win32 x64'];
const modernGlibcMin = [2, 38];

/** Name of the workspace with the machine's engine. */
export function chooseEngine({ platform, arch, abi, glibc }) {
  const isBuilt = modernAbis.includes(abi) && modernPlatforms.includes(`${platform} ${arch}`);
  return isBuilt && (platform !== 'linux' || isFrom(modernGlibcMin, glibc)) ? 'modern' : 'legacy';
}

/** Describes this machine for {@link chooseEngine}. `glibc` is undefined with another C library. */
export function describeMachine() {
  const { platform, arch, versions, report } = process;
  return { platform, arch, abi: versions.modules, glibc: report.getReport().header.glibcVersionRuntime };
}

/** Whether a version is this one or newer. */
export function isFrom([majorMin, minorMin], version = '0.0') {
  const [major, minor] = version.split('.').map(Number);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}
