import { describe, expect, it } from 'vitest';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import type { ContractAddresses } from '../../actors/chain/spans/chainEvent.ts';
import { identifyFold, isOfFold } from '../../actors/foldIdentity.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';

const contractAddresses = Object.fromEntries(
  ['core', 'proxyAdmin', 'operatorTimelock', 'tokenFactory', 'mining', 'token', 'collection'].map(
    (name, index) => [name, `0x${String(index + 1).repeat(40)}`],
  ),
) as unknown as ContractAddresses;

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

  it('of readings contains the genesis and the public installation', () => {
    const settings = { genesisMs: 0, publicInstallationId: 'wheel.one' };
    const { identity } = createCounterActors(settings);
    expect(createCounterActors(settings).identity).toEqual(identity);
    for (const other of [{ genesisMs: 1_800_000 }, { publicInstallationId: 'wheel.two' }])
      expect(createCounterActors({ ...settings, ...other }).identity).not.toEqual(identity);
  });

  it('of the chain contains its number, its deployment block and each contract', () => {
    const settings = { chainId: 1n, contracts: contractAddresses, deploymentBlock: 1n };
    const { identity } = createChainActors(settings);
    for (const other of [{ chainId: 2n }, { deploymentBlock: 2n }])
      expect(createChainActors({ ...settings, ...other }).identity).not.toEqual(identity);
    for (const name of Object.keys(contractAddresses)) {
      const contracts = { ...contractAddresses, [name]: `0x${'9'.repeat(40)}` };
      expect(createChainActors({ ...settings, contracts }).identity).not.toEqual(identity);
    }
  });
});
