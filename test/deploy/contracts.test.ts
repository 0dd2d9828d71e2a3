import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { coreAbi, miningAbi } from '../../actors/chain/spans/contractAbis.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';

const root = resolve(import.meta.dirname, '../..');

describe('contracts', () => {
  it('match the committed artifacts', async () => {
    const path = join(root, 'deploy/contracts/compile.mjs');
    const { isUpToDate } = (await import(path)) as { isUpToDate: () => boolean };
    expect(isUpToDate()).toBe(true);
  });

  it('settle, mint, share by weight, merge and pay', async () => {
    const { actions, client, deployed, mine, owners, operator, settings } = await startEconomy();
    const { core, mining } = deployed.contracts;
    const [alice, bob] = [owners[0] as `0x${string}`, owners[1] as `0x${string}`];
    const start = settings.genesisTimestamp;
    await actions.configureSale({
      allowlistStart: start,
      allowlistEnd: start,
      publicPrice: 1_000n,
      publicAllocation: 100n,
      protocolReserve: 10n,
    });
    await mine(3_600);
    await actions.mint(alice, 3n, 1_000n);
    await actions.mint(bob, 1n, 1_000n);
    await mine(12);
    await mine(3_000);
    await actions.settle({
      previousSettledThroughRound: 0n,
      settledThroughRound: 4n,
      active: [
        { roundId: 1n, workUnits: 3_500n },
        { roundId: 3n, workUnits: 2_600n },
      ],
      nonce: 0n,
    });
    await mine(12);
    const read = { address: core, abi: coreAbi } as const;
    expect(await client.readContract({ ...read, functionName: 'cumulativeWork' })).toBe(6_100n);
    expect(await client.readContract({ ...read, functionName: 'blockHeight' })).toBe(6n);
    await actions.checkpoint(operator, 4n);
    await mine(12);
    const claimable = (tokenId: bigint) =>
      client.readContract({ address: mining, abi: miningAbi, functionName: 'claimable', args: [tokenId] });
    // Round 1 completed three blocks without any weight; round 3 completed three for four equal positions.
    expect(await claimable(1n)).toBe((3n * 50n * 10n ** 18n) / 4n);
    await actions.merge(alice, 1n, 2n);
    await actions.claim(bob, [4n]);
    await mine(12);
    expect(await claimable(4n)).toBe(0n);
    expect(await claimable(1n)).toBe((2n * 3n * 50n * 10n ** 18n) / 4n);
  });
});
