// The HTTP engine comes from one of two packages, and each is the dependency of a workspace next to this file. `npm` cannot choose between them: a lock file
// knows neither the version of Node nor that of glibc.

/** Versions of Node that the modern engine has programs for, by their ABI: Node 20, 22, 24 and 25. */
const modernAbis = ['115', '127', '137', '141'];
const modernPlatforms = ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64', 'win32 x64'];
const modernGlibcMin = [2, 38];

/** Name of the workspace, a folder next to this file, whose engine a machine gets. */
export function chooseEngine({ platform, arch, abi, glibc }) {
  const isBuilt = modernAbis.includes(abi) && modernPlatforms.includes(`${platform} ${arch}`);
  return isBuilt && (platform !== 'linux' || isModernGlibc(glibc)) ? 'modern' : 'legacy';
}

/** What {@link chooseEngine} asks about this machine. `glibc` is undefined with another C library. */
export function describeMachine() {
  const { platform, arch, versions, report } = process;
  return { platform, arch, abi: versions.modules, glibc: report.getReport().header.glibcVersionRuntime };
}

function isModernGlibc(version = '0.0') {
  const [major, minor] = version.split('.').map(Number);
  const [majorMin, minorMin] = modernGlibcMin;
  return major > majorMin || (major === majorMin && minor >= minorMin);
}
