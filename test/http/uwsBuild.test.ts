import { describe, expect, it } from 'vitest';
import { chooseUwsBuild, type Uws } from '../../http/server/engine/uwsBuild.ts';

// Builds for other versions of Node do not load here, so what they export stands for them.
const native = { App: () => undefined, getParts: () => undefined } as unknown as Uws;
const substitute = { App: () => undefined } as unknown as Uws;

/** Loads what is named; another package is not installed. */
const loading = (installed: Readonly<Record<string, Uws>>) => (name: string) => {
  const uws = installed[name];
  if (uws === undefined) throw new Error(`Cannot find module '${name}'`);
  return uws;
};

describe('packages of uWebSockets.js', () => {
  it.each<[string, Record<string, Uws>, string, 'native' | 'fallback']>([
    ['the first, where it is native', { one: native, two: native }, 'one', 'native'],
    ['the first native one', { one: substitute, two: native }, 'two', 'native'],
    ['the native one that loads', { two: native }, 'two', 'native'],
    ['a substitute where none is native', { one: substitute }, 'one', 'fallback'],
  ])('%s is taken', (_, installed, packageName, implementation) => {
    expect(chooseUwsBuild(loading(installed), ['one', 'two'])).toMatchObject({ packageName, implementation });
  });

  it('are an error that names the first if none loads', () => {
    expect(() => chooseUwsBuild(loading({}), ['one', 'two'])).toThrow("Cannot find module 'one'");
  });
});
