/** Exports of uWebSockets.js, and of the packages with builds of it. */
export type Uws = typeof import('uWebSockets.js');

interface UwsBuild {
  readonly uws: Uws;
  readonly packageName: string;
  readonly implementation: 'native' | 'fallback';
}

/**
 * Packages with uWebSockets.js, in the order in which they are tried: builds for current platforms, then older builds with a
 * substitute in JavaScript. One of them is installed (`deploy/engines/`).
 */
export const oldPackage = 'uWebSockets.js';
export const uwsPackages = ['@btc-vision/uwebsockets.js', oldPackage] as const;

/**
 * @param load throws if a package is not installed, or has no build for this machine.
 * @returns the first native build that loads, else the first substitute.
 * @throws the error of the first package if none loads.
 */
export function chooseUwsBuild(load: (packageName: string) => Uws, packages: readonly string[]): UwsBuild {
  let substitute: UwsBuild | null = null;
  let failure: unknown = null;
  for (const packageName of packages) {
    try {
      const uws = load(packageName);
      // The substitute cannot read forms.
      if ('getParts' in uws) return { uws, packageName, implementation: 'native' };
      substitute ??= { uws, packageName, implementation: 'fallback' };
    } catch (error) {
      failure ??= error;
    }
  }
  if (substitute === null) throw failure;
  return substitute;
}
