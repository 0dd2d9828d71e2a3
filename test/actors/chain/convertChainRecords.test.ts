import { describe, expect, it } from 'vitest';
import { chainRecords } from '../../../actors/chain/chainRecords.ts';
import {
  convertChainRecord,
  foldVersionBeforeLists,
  foldVersionBeforeRows,
} from '../../../actors/chain/convertChainRecords.ts';
import { RecordRefused } from '../../../actors/foldRecord.ts';

const owner = `0x${'a'.repeat(40)}`;
const contract = `0x${'5'.repeat(40)}`;
const hash = `0x${'b'.repeat(64)}`;

// As those versions have written them.
const members = `"kind":"claim","address":"${contract}","tokenIds":[{"$bigint":"7"}],"amountBaseUnits":{"$bigint":"115792089237316195423570985008687907853269984665640564039457584007913129639935"},"from":null,"to":"${owner}","level":null,"effectiveRound":null,"nextMergeBlock":null,"source":{"blockNumber":{"$bigint":"19000001"},"blockHash":"${hash}","blockTimestampMs":1769860812000,"transactionHash":"${hash}","transactionIndex":3,"logIndex":9}`;
const position = `{"tokenId":7,"owner":"${owner}","ownershipStartedAtMs":1769860800000,"level":2,"pending":{"round":{"$bigint":"12"},"source":"merge","weight":{"$bigint":"220"}},"nextMergeBlock":{"$bigint":"9007199254740993"},"segments":[{"fromPerWeight":{"$bigint":"0"},"throughPerWeight":null,"weight":{"$bigint":"100"}}],"paidBaseUnits":{"$bigint":"1"}}`;

const event = {
  kind: 'claim',
  address: contract,
  tokenIds: [7n],
  amountBaseUnits: 2n ** 256n - 1n,
  from: null,
  to: owner,
  level: null,
  effectiveRound: null,
  nextMergeBlock: null,
  source: {
    blockNumber: 19_000_001n,
    blockHash: hash,
    blockTimestampMs: 1_769_860_812_000,
    transactionHash: hash,
    transactionIndex: 3,
    logIndex: 9,
  },
};

describe('a record of an earlier version', () => {
  it.each([
    ['before lists', foldVersionBeforeLists, `{${members},"position":41}`, 41],
    ['before rows', foldVersionBeforeRows, `{${members}}`, 1],
  ])('%s is an event of an owner as this version has it', (_, foldVersion, value, at) => {
    const record = convertChainRecord({ kind: 'activity', key: `${owner}/3`, value }, foldVersion);
    expect(record.key).toBe(`${owner}/3`);
    expect(chainRecords.activity.read(record)).toEqual({ ...event, position: at });
  });

  it.each([foldVersionBeforeLists, foldVersionBeforeRows])('%i is a position', (foldVersion) => {
    const record = convertChainRecord({ kind: 'position', key: '7', value: position }, foldVersion);
    expect(chainRecords.position.read(record)).toEqual({
      tokenId: 7,
      owner,
      ownershipStartedAtMs: 1_769_860_800_000,
      level: 2,
      pending: { round: 12n, source: 'merge', weight: 220n },
      nextMergeBlock: 2n ** 53n + 1n,
      segments: [{ fromPerWeight: 0n, throughPerWeight: null, weight: 100n }],
      paidBaseUnits: 1n,
    });
  });

  it('stays removed, and as it is where nothing changed', () => {
    for (const record of [
      { kind: 'activity', key: `${owner}/3`, value: null },
      { kind: 'position', key: '7', value: null },
      { kind: 'metadata', key: '7', value: '{"epoch":{"$bigint":"1"},"uri":"ipfs://7"}' },
    ])
      expect(convertChainRecord(record, foldVersionBeforeLists)).toEqual(record);
  });

  it('is refused where it does not fit what that version wrote', () => {
    for (const value of [`{${members}}`, `{${members},"position":41,"more":1}`, '["claim"]'])
      expect(() =>
        convertChainRecord({ kind: 'activity', key: `${owner}/3`, value }, foldVersionBeforeLists),
      ).toThrow(RecordRefused);
  });
});
