import { describe, expect, it } from 'vitest';
import { chainEvent } from '../../../actors/chain/spans/chainEventSchema.ts';
import { stateOwner } from '../../support/chain/economyState.ts';
import { buildBlockHash, buildTransactionHash } from '../../support/chain/hashes.ts';
import { writtenContracts } from '../../support/chain/writtenSpans.ts';

const args = { owner: stateOwner, tokenIds: [1n, 2n], amount: 3n };
const event = {
  contract: 'mining',
  address: writtenContracts.mining,
  name: 'RewardsClaimed',
  args,
  source: {
    blockNumber: 1n,
    blockHash: buildBlockHash(1),
    blockTimestampMs: 0,
    transactionHash: buildTransactionHash(1),
    transactionIndex: 0,
    logIndex: 0,
  },
};
const without = (member: string) =>
  Object.fromEntries(Object.entries(event).filter(([key]) => key !== member));

describe('an event of a deployment', () => {
  it('has the arguments of the ABI', () => {
    const asset = { name: 'Reward', symbol: 'SQK', decimals: 6, cap: 1n };
    const names = { token: stateOwner, minter: stateOwner, ...asset };
    const created = { ...event, contract: 'tokenFactory', name: 'TokenCreated', args: names };
    for (const one of [event, created]) expect(chainEvent.safeParse(one).success).toBe(true);
  });

  it.each<[string, unknown]>([
    ['it is a number', 1],
    ['it is null', null],
    ...Object.keys(event).map((member): [string, unknown] => [`${member} is missing`, without(member)]),
    ['its contract is unknown', { ...event, contract: 'other' }],
    ['its address is none', { ...event, address: '0x1' }],
    ['its source lacks everything', { ...event, source: {} }],
    ['the contract has no such event', { ...event, name: 'claim' }],
    ['its arguments are a number', { ...event, args: 1 }],
    ['its arguments are null', { ...event, args: null }],
    ['its arguments are a list', { ...event, args: Object.values(args) }],
    ['an argument is missing', { ...event, args: { owner: stateOwner, amount: 3n } }],
    ['there is an argument too many', { ...event, args: { ...args, other: 1n } }],
    ['an argument has another name', { ...event, args: { owner: stateOwner, tokenIds: [1n], other: 3n } }],
    ['a list is none', { ...event, args: { ...args, tokenIds: 1n } }],
    ['an item of a list has another type', { ...event, args: { ...args, tokenIds: [1n, 2] } }],
    ['an address is none', { ...event, args: { ...args, owner: '0x1' } }],
    ['an address is a number', { ...event, args: { ...args, owner: 1n } }],
  ])('is refused if %s', (_, value) => {
    expect(chainEvent.safeParse(value).success).toBe(false);
  });
});
