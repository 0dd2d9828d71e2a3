import { expect, it } from 'vitest';
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

/** CPU time, since other processes do not affect it. */
function measureCpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

it.each(decoders)(
  '%s that is made to be expensive is refused at little cost, with a short reason',
  (_, subject, bytesMax, decode) => {
    for (const text of createBombs(bytesMax)) {
      const data = Buffer.from(text);
      expect(data.length).toBeLessThanOrEqual(bytesMax);
      let outcome: ReturnType<typeof decode> = null;
      const refusingMs = measureCpuMs(() => {
        outcome = decode(subject, data);
      });
      expect(outcome).toMatchObject({
        rejection: { reason: 'malformed', detail: expect.stringMatching(/^.{1,400}$/s) },
      });
      const readingMs = measureCpuMs(() => void JSON.parse(data.toString()));
      // Without limits, explaining took five seconds; reading takes a few milliseconds.
      expect(refusingMs, text.slice(0, 40)).toBeLessThan(50 * readingMs + 200);
    }
  },
);
