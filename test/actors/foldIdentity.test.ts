import { describe, expect, it } from 'vitest';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import { identifyFold, isOfFold } from '../../actors/folds/foldIdentity.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { writtenSettings } from '../support/chain/writtenSpans.ts';

describe('the identity of a fold', () => {
  it('differs for each version, setting and value', () => {
    const one = identifyFold(1, { a: 'x', b: 2n });
    expect(isOfFold(one, identifyFold(1, { b: 2n, a: 'x' }))).toBe(true);
    for (const other of [
      identifyFold(2, { a: 'x', b: 2n }),
      identifyFold(1, { a: 'y', b: 2n }),
      identifyFold(1, { a: 'x', b: 3n }),
      identifyFold(1, { a: 'x' }),
      identifyFold(1, { a: 'x\nb="2"' }),
    ])
      expect(isOfFold(one, other)).toBe(false);
  });

  it('contains genesis, public installation and maximum speed for readings', () => {
    const settings = { genesisMs: 0, publicInstallationId: 'wheel.one' };
    const { identity } = createCounterActors(settings);
    expect(createCounterActors(settings).identity).toEqual(identity);
    for (const other of [
      { genesisMs: 1_800_000 },
      { publicInstallationId: 'wheel.two' },
      { maximumSpeedMmPerSecond: 3_000 },
    ])
      expect(createCounterActors({ ...settings, ...other }).identity).not.toEqual(identity);
  });

  it('contains chain ID, deployment block and contracts for the chain', () => {
    const { identity } = createChainActors(writtenSettings);
    const { contracts } = writtenSettings;
    for (const other of [
      { chainId: 2n },
      { deploymentBlock: 2n },
      ...Object.keys(contracts).map((name) => ({
        contracts: { ...contracts, [name]: `0x${'9'.repeat(40)}` },
      })),
    ])
      expect(createChainActors({ ...writtenSettings, ...other }).identity).not.toEqual(identity);
  });
});
