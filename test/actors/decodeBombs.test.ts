import { expect, it, vi } from 'vitest';
import { readsBytesMax } from '../../actors/chain/spans/chainReads.ts';
import { spanBytesMax } from '../../actors/chain/spans/chainSpan.ts';
import { decodeChain, decodeChainReads } from '../../actors/chain/spans/decodeChain.ts';
import {
  counterSubject,
  moduleSubject,
  oracleSubject,
  reporterSubject,
  signerSubject,
} from '../../actors/messages/subjects.ts';
import {
  decodeSettlement as decodeSettlementMessage,
  settlementBytesMax,
} from '../../actors/settlement/decodeSettlement.ts';
import { decodeCounter, readingBytesMax } from '../../actors/wheel/decodeCounter.ts';
import { genesisMs, storedLateMs } from '../support/genesis.ts';

const id = 'wheel.one';
const decodeReading = (subject: string, data: Uint8Array) =>
  decodeCounter({ subject, data, seq: 1 }, storedLateMs, { genesisMs });
const decodeSettlement = (subject: string, data: Uint8Array) =>
  decodeSettlementMessage({ subject, data }, storedLateMs, genesisMs);
const decoders = [
  ['a span', 'miner.chain.1.span', spanBytesMax, decodeChain],
  ['reads of the chain', 'miner.chain.1.reads', readsBytesMax, decodeChainReads],
  ['an oracle’s message', oracleSubject(id), settlementBytesMax, decodeSettlement],
  ['a reporter’s message', reporterSubject(id), settlementBytesMax, decodeSettlement],
  ['a module snapshot', moduleSubject(id, 'sensor'), settlementBytesMax, decodeSettlement],
  ['a signer', signerSubject(id), settlementBytesMax, decodeSettlement],
  ['a reading', counterSubject(id), readingBytesMax, decodeReading],
] as const;

/** Explaining looks at a few thousand values, however many there are, and twice at the names of all members. Without its limits it looks at each value. */
const lookupsMax = 50_000;

/** Messages with the longest lists, the most members and the deepest nesting that fit into the bytes. */
function createBombs(bytesMax: number): string[] {
  const repeat = (text: string, around: number) => text.repeat(Math.floor((bytesMax - around) / text.length));
  const lists = ['blocks', 'rounds', 'weights', 'proposers', 'activeRounds', 'closures', 'items'];
  const members = Array.from({ length: Math.floor(bytesMax / 12) }, (_, index) => `"m${index}":{}`);
  return [
    ...lists.map((list) => `{"${list}":[${repeat('{},', 40)}{}]}`),
    `{"blocks":[{"logs":[${repeat('{},', 60)}{}]}]}`,
    `{"type":"closed","rounds":[${repeat('{},', 60)}{}]}`,
    `[${repeat('{},', 10)}{}]`,
    `{${members
      .join(',')
      .slice(0, bytesMax - 60)
      .replace(/,[^,]*$/, '')}}`,
    `${'['.repeat(bytesMax / 2 - 4)}${']'.repeat(bytesMax / 2 - 4)}`,
    `{"data":${'{"a":'.repeat(bytesMax / 8)}1${'}'.repeat(bytesMax / 8)}}`,
  ];
}

const parse = JSON.parse;

/** Reads a message as the decoder does, and counts how often something is looked up in what it holds. */
function countLookups(work: () => void): number {
  let lookups = 0;
  const watch = (value: unknown): unknown =>
    typeof value !== 'object' || value === null ? value : new Proxy(value, watched);
  const watched: ProxyHandler<object> = {
    get: (object, key, receiver) => {
      lookups++;
      return watch(Reflect.get(object, key, receiver));
    },
    ownKeys: (object) => {
      const keys = Reflect.ownKeys(object);
      lookups += keys.length;
      return keys;
    },
  };
  const parsed = vi.spyOn(JSON, 'parse').mockImplementation((text) => watch(parse(text)));
  try {
    work();
  } finally {
    parsed.mockRestore();
  }
  return lookups;
}

it.each(decoders)(
  '%s that is made to be expensive is refused at little cost, with a short reason',
  (_, subject, bytesMax, decode) => {
    for (const text of createBombs(bytesMax)) {
      const data = Buffer.from(text);
      expect(data.length).toBeLessThanOrEqual(bytesMax);
      let outcome: ReturnType<typeof decode> = null;
      const lookups = countLookups(() => {
        outcome = decode(subject, data);
      });
      expect(outcome).toMatchObject({
        rejection: { reason: 'malformed', detail: expect.stringMatching(/^.{1,400}$/s) },
      });
      expect(lookups, text.slice(0, 40)).toBeLessThan(lookupsMax);
    }
  },
);
