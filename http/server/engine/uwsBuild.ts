/** What uWebSockets.js and the packages that bring builds of it export. */
export type Uws = typeof import('uWebSockets.js');

interface UwsBuild {
  readonly uws: Uws;
  readonly packageName: string;
  readonly implementation: 'native' | 'fallback';
}

/**
 * Packages that bring uWebSockets.js, in the order in which they are tried: builds for current platforms, then older builds with a substitute in JavaScript.
 * One of them is installed (`deploy/engines/`).
 */
export const uwsPackages = ['@btc-vision/uwebsockets.js', 'uWebSockets.js'] as const;

/**
 * Takes the first native build that loads, else the first substitute.
 *
 * @param load throws where a package is not installed, or has no build that loads on this machine.
 * @throws Error of the first package where none loads.
 */
export function chooseUwsBuild(load: (packageName: string) => Uws, packages: readonly string[]): UwsBuild {
  let substitute: UwsBuild | null = null;
  let failure: unknown = null;
  for (const packageName of packages) {
    try {
      const uws = load(packageName);
      // The substitute lacks what reads forms.
      if ('getParts' in uws) return { uws, packageName, implementation: 'native' };
      substitute ??= { uws, packageName, implementation: 'fallback' };
    } catch (error) {
      failure ??= error;
    }
  }
  if (substitute === null) throw failure;
  return substitute;
}
