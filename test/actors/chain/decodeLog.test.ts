import fc from 'fast-check';
import {
  type Abi,
  type AbiEvent,
  type AbiParameter,
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  type Hex,
  pad,
} from 'viem';
import { expect, it } from 'vitest';
import { type ContractKind, contractAbis, contractKinds } from '../../../actors/chain/spans/chainEvent.ts';
import { createLogDecoder } from '../../../actors/chain/spans/decodeLog.ts';
import { type Address, toAddress } from '../../../actors/schemas/hex.ts';
import { buildBlockHash, buildTransactionHash } from '../../support/chain/hashes.ts';

const addresses = Object.fromEntries(
  contractKinds.map((kind, index) => [kind, toAddress(pad(`0x${index + 1}`, { size: 20 }))]),
) as Record<ContractKind, Address>;
const events = contractKinds.flatMap((kind) =>
  (contractAbis[kind] as Abi)
    .filter((item): item is AbiEvent => item.type === 'event')
    .map((event) => ({ kind, event })),
);
const block = { number: 1n, hash: buildBlockHash(1), timestampMs: 0, logs: [] } as const;

const place = { transactionHash: buildTransactionHash(1), transactionIndex: 0, logIndex: 0 };

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);

function generateArgument({ type }: AbiParameter): fc.Arbitrary<unknown> {
  const array = /^(.*)\[\]$/.exec(type);
  if (array !== null) return fc.array(generateArgument({ type: array[1] as string }), { maxLength: 4 });
  const [, bits] = /^uint(\d+)$/.exec(type) ?? [];
  if (bits !== undefined) {
    const max = 2n ** BigInt(bits) - 1n;
    return fc.bigInt({ min: 0n, max }).map((value) => (Number(bits) <= 48 ? Number(value) : value));
  }
  const [, bytes] = /^bytes(\d+)$/.exec(type) ?? [];
  if (bytes !== undefined) return hex(Number(bytes));
  if (type === 'address') return hex(20).map((address) => getAddress(address));
  if (type === 'bool') return fc.boolean();
  if (type === 'string') return fc.string();
  if (type === 'bytes') return fc.nat(70).chain(hex);
  throw new Error(`${type} is not known here`);
}

/** The deployment's token is the only one of the factory that counts. */
function argumentFor(kind: ContractKind, input: AbiParameter): fc.Arbitrary<unknown> {
  const isToken = kind === 'tokenFactory' && input.name === 'token';
  return isToken ? fc.constant(getAddress(addresses.token)) : generateArgument(input);
}

it.each(events)(
  'a log of the contracts is decoded as by viem, with addresses in lower case: $kind, $event.name',
  ({ kind, event }) => {
    const decode = createLogDecoder(addresses);
    fc.assert(
      fc.property(
        fc.tuple(...event.inputs.map((input) => argumentFor(kind, input))),
        fc.nat(64),
        (values, cut) => {
          const args = Object.fromEntries(event.inputs.map(({ name }, index) => [name, values[index]]));
          const topics = encodeEventTopics({ abi: [event], args } as never) as [Hex, ...Hex[]];
          const data = encodeAbiParameters(
            event.inputs.filter(({ indexed }) => !indexed),
            values.filter((_, index) => !event.inputs[index]?.indexed),
          );
          const log = { ...place, address: addresses[kind], topics, data };
          const isAddress = (name: string) =>
            event.inputs.some((input) => input.name === name && input.type === 'address');
          const asViem = (data: Hex) =>
            Object.fromEntries(
              Object.entries(decodeEventLog({ abi: [event], topics, data }).args ?? {}).map(
                ([name, value]) => [name, isAddress(name) ? String(value).toLowerCase() : value],
              ),
            );
          expect(decode(block, log)?.args).toEqual(asViem(data));
          if (kind === 'tokenFactory')
            expect(decode(block, { ...log, topics: topics.with(1, pad('0x99')) })).toBeNull();
          if (topics.length > 1)
            expect(() => decode(block, { ...log, topics: topics.slice(0, -1) })).toThrow();
          const shorter = data.slice(0, Math.max(2, data.length - 2 * (cut + 1))) as Hex;
          const ours = attempt(() => decode(block, { ...log, data: shorter })?.args);
          expect(ours).toEqual(attempt(() => asViem(shorter)));
        },
      ),
      { numRuns: 15 },
    );
  },
);

/** The result of a call, or `thrown`. */
function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch {
    return 'thrown';
  }
}

it('a truncated log keeps values of fixed size, and no text', () => {
  const decodeTruncated = (contract: ContractKind, name: string, args: object, bytesCut: number) => {
    const event = events.find((one) => one.kind === contract && one.event.name === name)?.event as AbiEvent;
    const inData = event.inputs.filter(({ indexed }) => !indexed);
    const values = inData.map((input) => (args as Record<string, unknown>)[input.name ?? '']);
    const data = encodeAbiParameters(inData, values);
    const log = {
      address: addresses[contract],
      topics: encodeEventTopics({ abi: [event], args } as never) as [Hex, ...Hex[]],
      data: data.slice(0, data.length - 2 * bytesCut) as Hex,
      truncated: { byteLength: data.length / 2 - 1, digest: pad('0x1') },
      ...place,
    };
    return createLogDecoder(addresses)(block, log)?.args;
  };
  const scheduled = { id: pad('0x1'), index: 0n, target: addresses.core, value: 7n };
  const call = { ...scheduled, data: `0x${'ab'.repeat(64)}`, predecessor: pad('0x2'), delay: 9n };
  // The last 24 of 64 bytes are missing.
  const cut = { ...call, data: `0x${'ab'.repeat(40)}` };
  expect(decodeTruncated('operatorTimelock', 'CallScheduled', call, 24)).toEqual(cut);
  const published = { tokenId: 1n, epoch: 2n, uri: 'ipfs://a-long-name-of-a-file' };
  expect(decodeTruncated('collection', 'MetadataPublished', published, 8)).toEqual({ ...published, uri: '' });
});

it.each([
  ['that are not UTF-8', [0xc3, 0x28]],
  ['of a surrogate', [0xed, 0xa0, 0xbd]],
  ['of half a character', [0xf0, 0x9f, 0x98]],
])('bytes %s become replacement characters in the texts of a log', (_, bytes) => {
  const event = events.find(({ event }) => event.name === 'MetadataPublished')?.event as AbiEvent;
  const args = { tokenId: 1n, epoch: 2n, uri: '' };
  const inData = event.inputs.filter(({ indexed }) => !indexed);
  // Bytes and texts have the same form.
  const types = inData.map((input) => (input.type === 'string' ? { ...input, type: 'bytes' } : input));
  const uri: Hex = `0x${Buffer.from([0x61, ...bytes, 0x62]).toString('hex')}`;
  const data = encodeAbiParameters(
    types,
    inData.map(({ name }) => ({ ...args, uri })[name as keyof typeof args]),
  );
  const topics = encodeEventTopics({ abi: [event], args } as never) as [Hex, ...Hex[]];
  const log = { ...place, address: addresses.collection, topics, data };
  expect(createLogDecoder(addresses)(block, log)?.args).toMatchObject({
    uri: expect.stringMatching(/^a\ufffd+\(?b$/),
  });
});

it('a log of another contract or event is not decoded', () => {
  const decode = createLogDecoder(addresses);
  const [topic] = encodeEventTopics({ abi: contractAbis.token, eventName: 'Transfer' }) as Hex[];
  const log = { ...place, address: addresses.core, topics: [topic as Hex], data: '0x' } as const;
  expect(decode(block, log)).toBeNull();
  expect(decode(block, { ...log, address: toAddress(pad('0x99', { size: 20 })) })).toBeNull();
  expect(decode(block, { ...log, topics: [] })).toBeNull();
  expect(() => decode(block, { ...log, address: addresses.token })).toThrow('no topic for from');
});
