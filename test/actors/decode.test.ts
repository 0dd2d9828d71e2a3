import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { decodeChain, decodeChainReads } from '../../actors/chain/spans/decodeChain.ts';
import { decodeMessage, defineFormat } from '../../actors/messages/decodeMessage.ts';
import { findInputStream } from '../../actors/messages/subjects.ts';
import { compileGuard } from '../../actors/schemas/compileSchema.ts';
import { decodeSettlement as decodeSettlementMessage } from '../../actors/settlement/decodeSettlement.ts';
import { decodeCounter } from '../../actors/wheel/decodeCounter.ts';
import { streamDefinitions } from '../../streams/definitions/streamDefinitions.ts';
import { genesisMs, storedLateMs, storedLateNanos } from '../support/genesis.ts';
import { messageExamples } from '../support/messageExamples.ts';
import { runs } from '../support/propertyRuns.ts';
import { moduleBody, preparedBody, signerBody } from '../support/readings/pipelineBodies.ts';

const reading = {
  telemetryId: 'AAAAAAAA-0000-4000-8000-000000000001',
  installationId: 'wheel.one',
  bootId: 'bbbbbbbb-0000-4000-8000-000000000001',
  sequence: 3,
  observedAt: '2026-01-31T12:00:00.250Z',
  receivedAt: '2026-01-31T12:00:01Z',
  counterEpoch: 'eeeeeeee-0000-4000-8000-000000000001',
  cumulativeWorkUnits: (2n ** 256n - 1n).toString(),
  provenance: 'hardware',
  softwareVersion: null,
  coreStatus: 'ACTIVE',
  rpmMilli: 0,
  speedMmPerSecond: 0,
  distanceMm: Number.MAX_SAFE_INTEGER,
};
const subject = 'miner.counter.wheel~one';
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

const decodeReading = (on: string, data: Uint8Array) =>
  decodeCounter({ subject: on, data, seq: 1 }, storedLateMs, { genesisMs });
const decodeSettlement = (on: string, data: Uint8Array, storedAtMs = storedLateMs) =>
  decodeSettlementMessage({ subject: on, data }, storedAtMs, genesisMs);

describe('a counter message', () => {
  it('becomes a reading with exact numbers', () => {
    expect(decodeReading(subject, bytes(reading))).toMatchObject({
      value: {
        telemetryId: 'aaaaaaaa-0000-4000-8000-000000000001',
        observedAtMs: Date.UTC(2026, 0, 31, 12, 0, 0, 250),
        cumulativeWorkUnits: 2n ** 256n - 1n,
        distanceMm: Number.MAX_SAFE_INTEGER,
      },
    });
  });

  it('may have unknown members, and a version of 256 characters, regardless of their bytes', () => {
    const accepted = { ...reading, firmware: 'x', softwareVersion: '😀'.repeat(256) };
    expect(decodeReading(subject, bytes(accepted))).toHaveProperty('value');
  });

  it.each([
    ['not JSON', '{', 'not JSON'],
    ['an array', '[]', 'expected an object'],
    ['nothing', '', 'not JSON'],
    ['a missing member', { ...reading, bootId: undefined }, 'bootId'],
    ['a number for the counter', { ...reading, cumulativeWorkUnits: 5 }, 'cumulativeWorkUnits'],
    ['a leading zero', { ...reading, cumulativeWorkUnits: '01' }, 'cumulativeWorkUnits'],
    ['a counter of 2^256', { ...reading, cumulativeWorkUnits: (2n ** 256n).toString() }, '2^256 - 1'],
    ['a negative sequence', { ...reading, sequence: -1 }, 'sequence'],
    ['an unsafe integer', '{"sequence":9007199254740993}', 'sequence'],
    ['a fraction', { ...reading, rpmMilli: 1.5 }, 'rpmMilli'],
    ['a local time', { ...reading, observedAt: '2026-01-31T12:00:00' }, 'observedAt'],
    ['an offset', { ...reading, observedAt: '2026-01-31T12:00:00+01:00' }, 'observedAt'],
    ['a 31st of February', { ...reading, observedAt: '2026-02-31T12:00:00Z' }, 'observedAt'],
    ['another provenance', { ...reading, provenance: 'guessed' }, 'provenance'],
    ['an ID with a space', { ...reading, installationId: 'wheel one' }, 'installationId'],
    ['a version of 257 characters', { ...reading, softwareVersion: '😀'.repeat(257) }, '256'],
  ])('is malformed with %s', (_, message, detail) => {
    expect(decodeReading(subject, bytes(message))).toEqual({
      rejection: { reason: 'malformed', detail: expect.stringContaining(detail) },
    });
  });

  it('is malformed if it is not UTF-8', () => {
    const cut = Buffer.from(JSON.stringify({ ...reading, softwareVersion: 'é' }), 'latin1');
    expect(decodeReading(subject, cut)).toEqual({ rejection: { reason: 'malformed', detail: 'not UTF-8' } });
  });

  it('is malformed over 16 KiB and not at 16 KiB', () => {
    const padReading = (length: number) => bytes(JSON.stringify(reading).padEnd(length));
    expect(decodeReading(subject, padReading(16 * 1024))).toHaveProperty('value');
    expect(decodeReading(subject, padReading(16 * 1024 + 1))).toHaveProperty('rejection.reason', 'malformed');
  });

  it('belongs to the installation of its subject', () => {
    expect(decodeReading('miner.counter.wheel', bytes(reading))).toMatchObject({
      rejection: {
        reason: 'wrong_installation',
        detail:
          'subject: expected miner.counter.wheel~one, since installationId is wheel.one, given miner.counter.wheel',
      },
    });
  });

  it('may be observed up to 300 seconds after it was received', () => {
    const decodeAt = (ms: number) => {
      const observedAt = new Date(Date.parse(reading.receivedAt) + ms).toISOString();
      return decodeReading(subject, bytes({ ...reading, observedAt }));
    };
    expect(decodeAt(300_000)).toHaveProperty('value');
    expect(decodeAt(300_001)).toHaveProperty('rejection.reason', 'future_observation');
  });

  it.each(['observedAt', 'receivedAt'])(
    'names a time in %s up to 300 seconds after it was stored',
    (name) => {
      const storedAtMs = Date.parse(reading.receivedAt);
      const decodeAt = (ms: number) => {
        // Both come from one wrong clock, or the gateway's clock alone is wrong.
        const at = new Date(storedAtMs + ms).toISOString();
        const data = bytes({ ...reading, receivedAt: at, [name]: at });
        return decodeCounter({ subject, data, seq: 1 }, storedAtMs, { genesisMs });
      };
      expect(decodeAt(300_000)).toHaveProperty('value');
      expect(decodeAt(300_001)).toEqual({
        rejection: {
          reason: 'future_observation',
          detail: `${name}: expected at most 5 minutes after the stream stored it, given ${new Date(storedAtMs + 300_001).toISOString()}, 5 minutes 1 millisecond after it: check the clocks`,
        },
      });
    },
  );
});

describe('a settlement message', () => {
  const snapshot = { ...moduleBody, instanceId: 'sensor.0.1' };

  const sensor = 'miner.module.wheel~one.sensor~0~1';

  it('is a module snapshot without its data', () => {
    const decoded = decodeSettlement(sensor, bytes(snapshot));
    expect(decoded).toMatchObject({
      value: { kind: 'module', installationId: 'wheel.one', module: { state: 'ready' } },
    });
    expect(JSON.stringify(decoded)).not.toContain('secret');
  });

  it('has a message of health of at most 1,024 characters', () => {
    const decode = (message: string) =>
      decodeSettlement(sensor, bytes({ ...snapshot, health: { ...snapshot.health, message } }));
    expect(decode('😀'.repeat(1_024))).toHaveProperty('value');
    expect(decode('😀'.repeat(1_025))).toHaveProperty('rejection.reason', 'malformed');
  });

  it.each([
    ['belongs to the instance of its subject', 'miner.module.wheel~one.other', 'wrong_instance'],
    ['names an installation that can be requested', 'miner.module.wheel one.sensor~0', 'malformed'],
  ])('%s', (_, on, reason) => {
    expect(decodeSettlement(on, bytes(snapshot))).toHaveProperty('rejection.reason', reason);
  });

  const at = new Date(genesisMs).toISOString();
  const early = '2020-01-01T00:00:00Z';
  const rounds = [{ roundId: '1', workUnits: '1' }];
  const listRounds = (first: number, last: number) => ({
    firstRound: String(first),
    lastRound: String(last),
    rounds: Array.from({ length: last - first + 1 }, (_, index) => ({
      roundId: String(first + index),
      workUnits: '1',
    })),
  });
  const closed = { type: 'closure_accepted', at, firstRound: '1', lastRound: '1', rounds, acceptedAt: at };
  it.each<[string, object, string | RegExp]>([
    ['of 1,009 rounds', listRounds(1, 1_009), 'rounds: expected at most 1008 items, given 1009 items'],
    ['of 4,000 rounds', listRounds(1, 4_000), 'rounds: expected at most 1008 items, given 4000 items'],
    [
      'with a missing round',
      { ...listRounds(1, 3), lastRound: '4' },
      'rounds: expected each round from firstRound through lastRound once, ascending, given 3 items',
    ],
    [
      'from a wrong clock',
      { ...closed, acceptedAt: '2999-12-31T00:00:00Z' },
      /^acceptedAt: expected at most 5 minutes after the stream stored it, given 2999-12-31T00:00:00.000Z, \d+ years \d+ days after it: check the clocks$/,
    ],
  ])('explains a closure %s', (_, closure, detail) => {
    const on = 'miner.oracle.wheel';
    const decoded = decodeSettlement(on, bytes({ ...closed, ...closure }));
    expect(decoded).toHaveProperty('rejection.detail', expect.stringMatching(detail));
  });

  it.each<[string, string, object, number]>([
    ['observedAt', sensor, { ...snapshot, observedAt: at, health: { checkedAt: early } }, 0],
    ['health.checkedAt', sensor, { ...snapshot, observedAt: early, health: { checkedAt: at } }, 0],
    ['enrolledAt', 'miner.signer.wheel', { ...signerBody, enrolledAt: at, lastVerifiedAt: early }, 0],
    ['lastVerifiedAt', 'miner.signer.wheel', { ...signerBody, enrolledAt: early, lastVerifiedAt: at }, 0],
    ['at', 'miner.oracle.wheel', { type: 'unblocked', at }, 0],
    ['at', 'miner.reporter.wheel', { type: 'incident_closed', at, incidentId: 'one' }, 0],
    [
      'acceptedAt',
      'miner.oracle.wheel',
      { ...closed, acceptedAt: new Date(genesisMs + 700_000).toISOString() },
      700_000,
    ],
    ['the end of round 1', 'miner.oracle.wheel', closed, 600_000],
  ])('names a time in %s up to 300 seconds after it was stored', (name, on, body, lateMs) => {
    const decodeAt = (aheadMs: number) => decodeSettlement(on, bytes(body), genesisMs + lateMs - aheadMs);
    expect(decodeAt(300_000)).toHaveProperty('value');
    expect(decodeAt(300_001)).toMatchObject({
      rejection: {
        reason: 'future_observation',
        detail: expect.stringMatching(`^${name}: .*, 5 minutes 1 millisecond after it: check the clocks$`),
      },
    });
  });

  it('is ignored if no view reads its kind', () => {
    expect(decodeSettlement('miner.other.wheel', bytes({}))).toBeNull();
  });
});

it('a message keeps no member that its schema does not name', () => {
  const format = defineFormat(z.object({ one: z.number() }), 100);
  expect(decodeMessage(format, bytes({ one: 1, other: 2 }))).toEqual({ value: { one: 1 } });
});

describe('half of a surrogate pair', () => {
  const decode = (on: string, data: Uint8Array) => {
    const stream = findInputStream(on);
    if (stream === null) throw new Error(`no stream takes ${on}`);
    return streamDefinitions[stream].judgeContent({ genesisMs })({
      seq: 1,
      subject: on,
      data,
      timestampNanos: storedLateNanos,
    });
  };
  it.each(messageExamples)('makes $subject malformed in any text or key: $text', ({ subject: on, text }) => {
    const half = '\\uD83d\\\\ude00';
    const detail = '\\uD83d: half of a surrogate pair is not a character';
    const ends = [...text.matchAll(/"/g)].map(({ index }) => index).filter((_, number) => number % 2 === 1);
    for (const end of ends)
      expect(decode(on, bytes(text.slice(0, end) + half + text.slice(end)))).toMatchObject({
        reason: 'malformed',
      });
    const withMember = (member: string) => decode(on, bytes(text.replace('{', `{${member},`)));
    for (const member of [`"more":"${half}"`, `"${half}":1`, `"more":[{"${half}":0}]`])
      expect(withMember(member)).toEqual({ reason: 'malformed', detail });
    expect(withMember('"more":"\\ud83d\\ude00","\\\\ud83d":"😀"')).toBeNull();
  });

  it.each([
    ['a surrogate', [0xed, 0xa0, 0xbd]],
    ['a pair of surrogates', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ['the beginning of a character', [0xf0, 0x9f, 0x98]],
    ['a longer form than needed', [0xc0, 0x80]],
    ['more than Unicode has', [0xf4, 0x90, 0x80, 0x80]],
  ])('is as little UTF-8 as %s in bytes', (_, given) => {
    for (const { subject: on, text } of messageExamples) {
      const data = Buffer.concat([bytes('{"more":"'), Buffer.from(given), bytes(`",${text.slice(1)}`)]);
      expect(decode(on, data)).toEqual({ reason: 'malformed', detail: 'not UTF-8' });
    }
  });

  it('never appears in the detail of a rejection, wherever that cuts a message', () => {
    const emojis = '😀'.repeat(300);
    const texts = [
      '{"sequence":😀}',
      `{"sequence":"${emojis}"}`,
      `{"sequence":"x${emojis}"}`,
      `{"${emojis}":`,
      `{"x${emojis}":`,
      JSON.stringify({ ...reading, bootId: emojis, counterEpoch: `x${emojis}`, observedAt: emojis }),
      JSON.stringify({ ...reading, bootId: `x${emojis}`, counterEpoch: emojis, observedAt: emojis }),
    ];
    for (const text of texts) {
      const { detail } = decode(subject, bytes(text)) ?? { detail: '\ud83d' };
      expect([detail, detail.isWellFormed()]).toEqual([detail, true]);
    }
  });
});

describe('a member that a later version adds', () => {
  /** A schema that the recipes of CONTRIBUTING.md allow, and some value for it, which may lack members that have a default. */
  interface Given {
    readonly schema: z.ZodType;
    readonly value: unknown;
  }
  const scalar = fc.oneof(
    fc.nat().map((value): Given => ({ schema: z.int().min(0), value })),
    fc.string({ maxLength: 8 }).map((value): Given => ({ schema: z.string().max(8), value })),
    fc.boolean().map((value): Given => ({ schema: z.boolean(), value })),
    fc.constantFrom('one', 'two').map((value): Given => ({ schema: z.enum(['one', 'two']), value })),
  );
  const later = (inner: fc.Arbitrary<Given>) =>
    fc.tuple(inner, fc.constantFrom('given', 'null', 'absent')).map(
      ([{ schema, value }, form]): Given => ({
        schema: schema.nullable().default(null),
        value: form === 'given' ? value : form === 'null' ? null : undefined,
      }),
    );
  const { node } = fc.letrec<{ node: Given; object: Given; member: Given }>((tie) => ({
    member: fc.oneof(tie('node'), later(tie('node'))),
    object: fc
      .dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie('member'), { minKeys: 1, maxKeys: 3 })
      .map((members): Given => {
        const list = Object.entries(members);
        return {
          schema: z.object(Object.fromEntries(list.map(([name, { schema }]) => [name, schema]))),
          value: Object.fromEntries(list.map(([name, { value }]) => [name, value])),
        };
      }),
    node: fc.oneof(
      { maxDepth: 2 },
      scalar,
      tie('object'),
      tie('object').map(({ schema, value }): Given => ({ schema: z.array(schema), value: [value] })),
      tie('object').map(({ schema, value }): Given => {
        const withType = (type: string) => (schema as z.ZodObject).extend({ type: z.literal(type) });
        return {
          schema: z.discriminatedUnion('type', [withType('one'), withType('two')]),
          value: { ...(value as object), type: 'two' },
        };
      }),
    ),
  }));

  it('may be absent from a value that fits its schema, and the type says so', () => {
    const fits = compileGuard(z.object({ later: z.string().nullable().default(null) }));
    const value: unknown = {};
    if (!fits(value)) throw new Error('it does not fit');
    // @ts-expect-error A guard fills in no default.
    const later: string | null = value.later;
    expect(later).toBeUndefined();
  });

  it('has its default in messages that lack it, at any place of any schema', () => {
    fc.assert(
      fc.property(node, ({ schema, value }) => {
        const text = JSON.stringify({ value });
        const whole = z.object({ value: schema });
        const decoded = decodeMessage(defineFormat(whole, text.length * 4), bytes(text));
        // Remembered messages are compared by their text, so the order counts, too.
        expect(JSON.stringify(decoded)).toBe(JSON.stringify({ value: whole.parse(JSON.parse(text)) }));
        expect(decoded).toStrictEqual({ value: whole.parse(JSON.parse(text)) });
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('bad input', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  const log = {
    address: `0x${'cd'.repeat(20)}`,
    topics: [hash],
    data: '0x',
    transactionHash: hash,
    transactionIndex: 0,
    logIndex: 0,
  };
  /** A message of every kind, with its subject. The page shows no span with a block. */
  const messages = messageExamples.map(({ subject: on, text }): readonly [string, object] => {
    const { timestamp, ...message } = JSON.parse(text);
    const blocks = [{ number: message.toBlock, hash: message.hash, timestamp, logs: [log] }];
    return [on, { timestamp, ...message, ...(message.blocks && { blocks }) }];
  });
  const decode = (on: string, data: Uint8Array) =>
    decodeReading(on, data) && [decodeSettlement(on, data), decodeChain(on, data)];

  it.each([
    ['oracle', ['firstRound', 'lastRound', 'roundId']],
    ['reporter', ['previousSettledThroughRound', 'settledThroughRound', 'completedBlockCount']],
    ['chain', ['fromBlock', 'toBlock', 'number']],
  ])('is malformed in the %s with 2^64 in a uint64', (kind, members) => {
    const hasAll = (text: string) => members.every((name) => text.includes(`"${name}":`));
    const [subject, message] = messages.find(
      ([on, body]) => on.startsWith(`miner.${kind}.`) && hasAll(JSON.stringify(body)),
    ) as (typeof messages)[number];
    const changeMember = (name: string, value: bigint) =>
      JSON.stringify(message, (key, member) => (key === name ? value.toString() : member));
    const decodeKind = kind === 'chain' ? decodeChain : decodeSettlement;
    const readReason = (body: string) => {
      const decoded = decodeKind(subject, bytes(body));
      return decoded !== null && 'rejection' in decoded ? decoded.rejection : null;
    };
    expect(readReason(JSON.stringify(message))).toBeNull();
    for (const name of members) {
      expect(readReason(changeMember(name, 2n ** 64n))).toMatchObject({
        reason: 'malformed',
        detail: expect.stringContaining('2^64 - 1'),
      });
      // The largest value is valid, even if it is inconsistent with the others.
      expect(readReason(changeMember(name, 2n ** 64n - 1n))?.detail ?? '').not.toContain('2^64 - 1');
    }
  });

  it('is described by the members that its schema names, beside any others', () => {
    const unknown = Array.from({ length: 70 }, (_, index) => [`unknown ${index}`, index]);
    const [, body] = messages.find(([on]) => on.startsWith('miner.counter.')) as (typeof messages)[number];
    const text = JSON.stringify({
      ...Object.fromEntries(unknown),
      ...body,
      bootId: null,
      rpmMilli: undefined,
    });
    expect(
      decodeReading('miner.counter.wheel', bytes(text.replace('{', '{"__proto__":{"rpmMilli":1},'))),
    ).toEqual({
      rejection: {
        reason: 'malformed',
        detail: 'bootId: expected a UUID, given null; rpmMilli: expected a number, given nothing',
      },
    });
  });

  it('is described, even if only a list’s later items are wrong', () => {
    const [on, reads] = messages.find(([one]) => one.endsWith('.reads')) as [string, { proposers: object[] }];
    const proposers = [...Array(8).fill(reads.proposers[0]), {}];
    expect(decodeChainReads(on, bytes({ ...reads, proposers }))).toEqual({
      rejection: {
        reason: 'malformed',
        detail:
          'proposers.8.account: expected a text, given nothing; proposers.8.isGranted: expected true or false, given nothing',
      },
    });
  });

  it.each([
    ['workPerThousandBlocks', 1n, (2n ** 64n - 1n) * 1_000n],
    ['cumulativeBlockUnits', 0n, 2n ** 64n * 1_000_000_000n - 1n],
  ])('is malformed in the reporter with %s outside its bounds', (name, least, most) => {
    const decode = (sum: bigint) => {
      const expected = { ...preparedBody.expected, [name]: String(sum) };
      const at = new Date(0).toISOString();
      const submissionId = '00000000-0000-4000-8000-000000000000';
      return decodeSettlement(
        'miner.reporter.wheel~one',
        bytes({ ...preparedBody, at, submissionId, expected }),
      );
    };
    for (const sum of [least, most]) expect(decode(sum)).toHaveProperty('value');
    for (const sum of [least - 1n, most + 1n])
      expect(decode(sum)).toHaveProperty('rejection.reason', 'malformed');
  });

  it('is refused on a subject with a wildcard, which NATS stores like any other', () => {
    for (const [on, body] of messages) {
      const stream = findInputStream(on);
      if (stream === null) throw new Error(on);
      const [prefix, kind, , ...rest] = on.split('.');
      const literal = [prefix, kind, '*', ...rest].join('.');
      const message = { seq: 1, subject: literal, data: bytes(body), timestampNanos: storedLateNanos };
      expect([literal, streamDefinitions[stream].judgeContent({ genesisMs })(message)]).toEqual([
        literal,
        expect.objectContaining({ detail: expect.stringMatching(/^subject: expected /) }),
      ]);
    }
  });

  it('is rejected or ignored, and never throws', () => {
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom('', '-1', '0x', '1e9', '٣', ...[20, 78].map((length) => 'x'.repeat(length))),
      fc.constantFrom('9'.repeat(78), '9'.repeat(400), 2 ** 60, -0.5),
      fc.constantFrom(...messages.map(([, message]) => message)),
    );
    const changes = fc.array(fc.tuple(fc.nat(), odd), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.constantFrom(...messages), changes, ([on, message], given) => {
        const replace = (body: unknown, [place, value]: [number, unknown]) => replacedAt(body, place, value);
        decode(on, bytes(JSON.stringify(given.reduce<unknown>(replace, message))));
      }),
      { numRuns: runs(2_000) },
    );
    for (const on of ['.one.span', '.-1.span', '..span']
      .map((rest) => `miner.chain${rest}`)
      .concat('miner.oracle.', 'miner', ''))
      for (const [, body] of messages) decode(on, bytes(body));
  });
});

/** The value with one of its members or elements, at any depth, replaced by another. */
function replacedAt(body: unknown, place: number, value: unknown): unknown {
  if (typeof body !== 'object' || body === null) return value;
  const entries = Object.entries(body);
  if (entries.length === 0) return value;
  const index = place % entries.length;
  const [key, member] = entries[index] as [string, unknown];
  const isDeeper =
    typeof member === 'object' && member !== null && Math.floor(place / entries.length) % 4 !== 0;
  const replaced = isDeeper ? replacedAt(member, Math.floor(place / entries.length / 4), value) : value;
  if (Array.isArray(body)) return body.with(index, replaced);
  return { ...body, [key]: replaced };
}
