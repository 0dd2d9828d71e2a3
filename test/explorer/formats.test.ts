import fc from 'fast-check';
import { formatUnits as formatWithViem } from 'viem';
import { expect, it } from 'vitest';
import { formatDate } from '../../http/addresses/days.ts';
import { formatPlace, type Place } from '../../http/addresses/place.ts';
import { describePage } from '../../http/explorer/describePage.ts';
import { describeEvent, findTone, nameEventSource } from '../../http/explorer/format/events.ts';
import {
  count,
  formatExact,
  formatFixed,
  formatInteger,
  formatPercent,
  formatShort,
  formatUnits,
  shortenHash,
} from '../../http/explorer/format/numbers.ts';
import {
  describeAmount,
  describeDistance,
  describeRpm,
  describeShare,
  describeSpeed,
  describeWork,
  projectShare,
} from '../../http/explorer/format/quantities.ts';
import { type Sentence, writeSentence } from '../../http/explorer/format/sentence.ts';
import {
  formatClock,
  formatDateAndClock,
  formatDayAndMinute,
  formatDayOf,
  formatDuration,
  formatMinutes,
  nameZone,
} from '../../http/explorer/format/times.ts';
import { nameView } from '../../http/explorer/nameView.ts';
import type { Bodies, FeedEvent } from '../../http/explorer/page.ts';
import { describeWheel } from '../../http/explorer/wheelState.ts';
import { useTimeZone } from '../support/explorer/useTimeZone.ts';
import { runs } from '../support/propertyRuns.ts';

const token = { symbol: 'SQK', decimals: 18 };

it('writes an amount as another implementation does', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n }), fc.nat(40), (amount, decimals) => {
      expect(formatUnits(amount, decimals)).toBe(formatWithViem(amount, decimals));
    }),
    {
      numRuns: runs(500),
      examples: [
        [5n, 2],
        [5n, 0],
        [500n, 2],
        [0n, 2],
      ],
    },
  );
});

it.each([
  [formatInteger('999'), '999'],
  [formatInteger(1_234_567), '1,234,567'],
  [count('1', 'block'), '1 block'],
  [count('1000', 'block'), '1,000 blocks'],
  [formatExact('1234500', 3), '1,234.5'],
  [formatShort('1999900000000000000', 18, 2), '1.99'],
  [formatShort('9999999999999999', 18, 2), '< 0.01'],
  [formatShort('10000000000000000', 18, 2), '0.01'],
  [formatShort('1', 18, 0), '0'],
  [formatShort('0', 18, 2), '0'],
  [formatFixed(42_149n, 3, 1), '42.1'],
  [formatFixed(42_150n, 3, 1), '42.2'],
  [formatFixed(999_950n, 3, 1), '1,000.0'],
  [formatFixed(42_000n, 3, 1), '42.0'],
  [formatPercent(1), '0.01\u00a0%'],
  [formatPercent(10_000), '100\u00a0%'],
  [formatInteger(1_500), '1,500'],
  [shortenHash('0x123456789012'), '0x123456789012'],
  [shortenHash('0x1234567890123'), '0x123456…0123'],
  [formatMinutes(59), '59 min'],
  [formatMinutes(60), '1 h'],
  [formatMinutes(65), '1 h 05 min'],
  [formatDuration(-1), '0 s'],
  [formatDuration(59.9), '59 s'],
  [formatDuration(60), '1 min 00 s'],
  [formatDuration(3_599), '59 min 59 s'],
  [formatDuration(3_600), '1 h 00 min'],
  [formatDuration(86_399), '23 h 59 min'],
  [formatDuration(86_400), '1 d 0 h'],
  [formatDuration(2 * 86_400 + 3_600), '2 d 1 h'],
  [describeShare('1', '3').value, '33.33'],
  [describeShare('1', '1000000').value, '< 0.01'],
  [describeShare('0', '5').value, '0'],
  [describeShare('5', '5').value, '100'],
  [describeShare('0', '0').value, null],
  // Rounded down for amounts, and unknown without weight.
  [projectShare('100', '1', '3'), '33'],
  [projectShare('100', '1', '0'), null],
])('%s is written so', (written, expected) => {
  expect(written).toBe(expected);
});

it.each([
  [describeDistance('999499'), '999', 'm', '999,499 mm'],
  [describeDistance('999500'), '1.00', 'km', '999,500 mm'],
  [describeDistance(1_000_000), '1.00', 'km', '1,000,000 mm'],
  [describeDistance(3_421_384), '3.42', 'km', '3,421,384 mm'],
  [describeSpeed(700), '2.5', 'km/h', '700 mm/s'],
  [describeSpeed('1000'), '3.6', 'km/h', '1,000 mm/s'],
  [describeRpm(42_150), '42.2', 'rpm', '42,150 thousandths of a turn per minute'],
  [describeWork('1234'), '1,234', 'units', '1,234 work units'],
  [describeWork(null), null, 'units', null],
  [describeAmount('1500000000000000000', token, 2), '1.5', 'SQK', '1.5 SQK'],
  [describeAmount(undefined, token, 2), null, 'SQK', null],
  [describeAmount('1', null, 2), null, '', null],
])('%j has this unit', (quantity, value, unit, exact) => {
  expect(quantity).toEqual({ value, unit, exact });
});

it('times are of the chosen zone, with its date', () => {
  useTimeZone('Asia/Kolkata');
  const iso = '2026-11-30T22:05:29.000Z';
  const formats = [formatClock, formatDayAndMinute, formatDateAndClock, formatDayOf];
  const write = (zone: 'UTC' | 'local') => formats.map((format) => format(iso, zone)).join(', ');
  expect(write('UTC')).toBe('22:05:29, 30 Nov 22:05, 30 Nov 2026 22:05:29, 30 Nov');
  expect(write('local')).toBe('03:35:29, 1 Dec 03:35, 1 Dec 2026 03:35:29, 1 Dec');
  expect(formatDate(iso)).toBe('30 Nov 2026');
});

it.each([
  // Clocks are put back an hour at 06:00 UTC: they show one o'clock twice.
  ['America/New_York', '2026-11-01T05:59:59.999Z', 'UTC−4'],
  ['America/New_York', '2026-11-01T06:00:00.000Z', 'UTC−5'],
  ['Europe/London', '2026-10-25T00:30:00.000Z', 'UTC+1'],
  ['Europe/London', '2026-10-25T01:30:00.000Z', 'UTC'],
  // Half an hour.
  ['Australia/Lord_Howe', '2026-04-04T14:45:00.000Z', 'UTC+11'],
  ['Australia/Lord_Howe', '2026-04-04T15:15:00.000Z', 'UTC+10:30'],
  ['America/St_Johns', '2026-11-01T04:15:00.000Z', 'UTC−2:30'],
])('the zone %s at %s is called %s', (timeZone, iso, name) => {
  useTimeZone(timeZone);
  expect(nameZone(iso, 'local')).toBe(name);
  expect(nameZone(iso, 'UTC')).toBe('UTC');
});

const chainSource = { kind: 'chain', blockNumber: '1234' };
const wheelSource = { kind: 'measurement', receiptCursor: '1234', installationId: 'wheel' };

const asset = { address: '0x2', symbol: 'A' } as const;

/** An example of each type: its payload, and what a page says of it, with its links. */
const examples: {
  readonly [Of in Exclude<FeedEvent['type'], 'measurement.rpm_record'>]: readonly [
    payload: Extract<FeedEvent, { type: Of }>['payload'],
    said: string,
    links?: string,
  ];
} = {
  'system.settlement_completed': [
    {
      previousSettledThroughRound: '999',
      settledThroughRound: '1005',
      workAdded: '4000',
      activeRoundCount: '1',
      completedBlockCount: '2',
      firstCompletedBlock: '1199',
      lastCompletedBlock: '1200',
      cumulativeWork: '9000',
      blockHeight: '1200',
      cumulativeBlockUnits: '1200000000001',
    },
    'Settled: Rounds 1,000 to 1,005: 4,000 work units in 1 round with work, 2 work blocks completed, up to 1,200.',
    '/rounds/1000 /rounds/1005',
  ],
  'system.mining_checkpointed': [
    {
      afterRound: '9',
      throughRound: '12',
      completedBlockCount: '3',
      cumulativeWork: '9000',
      amountBaseUnits: '15',
      asset: { ...asset, decimals: 1 },
      cumulativeBlockUnits: '1200000000001',
    },
    'Minted: 1.5 A were minted for 3 work blocks of rounds 10 to 12. Owners can claim their parts.',
    '/rounds/10 /rounds/12',
  ],
  'player.miner_minted': [
    { tokenId: '7', weight: '1000', nextMergeBlock: '9', firstRound: '2000', owner: '0x1' },
    'New miner: Miner 7 was created with weight 1,000 for 0x1. It earns from round 2,000.',
    '/miners/7 /owners/0x1 /rounds/2000',
  ],
  'player.miners_merged': [
    {
      donorTokenId: '7',
      survivorTokenId: '8',
      level: 3,
      nextMergeBlock: '9',
      effectiveRound: '2000',
      owner: '0x1',
    },
    'Merged: Miner 7 was merged into miner 8 of 0x1, which has level 3 from round 2,000.',
    '/miners/7 /miners/8 /owners/0x1 /rounds/2000',
  ],
  'player.rewards_claimed': [
    { tokenIds: ['7', '8'], amountBaseUnits: '123456', asset: { ...asset, decimals: 5 }, owner: '0x1' },
    'Claimed: 1.2345 A were paid to 0x1 for miners 7 and 8.',
    '/owners/0x1 /miners/7 /miners/8',
  ],
  'measurement.distance_milestone': [
    { thresholdDistanceMm: '1000000', observedLifetimeDistanceMm: '1000001' },
    'Distance: The wheel has run 1\u00a0km in total.',
  ],
  'measurement.daily_distance_milestone': [
    { thresholdDistanceMm: '500000', observedDayDistanceMm: '500001', utcDate: '2026-11-22' },
    'Distance of a day: The wheel has run 500\u00a0m on the day of 22 Nov 2026.',
    '/days/2026-11-22',
  ],
  'measurement.speed_milestone': [
    { thresholdSpeedMmPerSecond: '1000', observedSpeedMmPerSecond: '1001' },
    'Speed: The wheel has reached 3.6\u00a0km/h for the first time.',
  ],
  'measurement.speed_record': [
    { recordMmPerSecond: '2000', previousRecordMmPerSecond: '1000', observedSpeedMmPerSecond: '2000' },
    'Speed record: The fastest so far: 7.2\u00a0km/h, 3.6\u00a0km/h before.',
  ],
  'measurement.distance_streak': [
    { days: 3, minimumDailyDistanceMm: '2000000', endingUtcDate: '2026-11-22' },
    'Streak: 3 days in a row with at least 2\u00a0km, the last on 22 Nov 2026.',
    '/days/2026-11-22',
  ],
};

const saidOfEvents: [type: string, payload: object, said: string, links?: string][] = [
  ...Object.entries(examples).map(([type, example]) => [type, ...example] as [string, ...typeof example]),
  [
    'system.settlement_completed',
    {
      previousSettledThroughRound: '4',
      settledThroughRound: '5',
      workAdded: '6',
      activeRoundCount: '7',
      completedBlockCount: '0',
      blockHeight: '8',
    },
    'Settled: Rounds 5 to 5: 6 work units in 7 rounds with work, no work block completed.',
    '/rounds/5 /rounds/5',
  ],
  [
    'system.mining_checkpointed',
    { afterRound: '1096', throughRound: '1108', completedBlockCount: '0', asset: {} },
    'Minted: Rounds 1,097 to 1,108 completed no work block.',
    '/rounds/1097 /rounds/1108',
  ],
  [
    'player.rewards_claimed',
    {
      tokenIds: ['1', '2', '3', '4', '5', '6', '7'],
      amountBaseUnits: '1',
      asset: { symbol: 'A', decimals: 0 },
      owner: '0x1',
    },
    'Claimed: 1 A were paid to 0x1 for 7 miners.',
    '/owners/0x1 /miners/1 /miners/2 /miners/3 /miners/4 /miners/5 /miners/6 /miners/7',
  ],
  [
    'measurement.speed_record',
    { recordMmPerSecond: '2000', previousRecordMmPerSecond: null },
    'Speed record: The fastest so far: 7.2\u00a0km/h.',
  ],
  ['measurement.rpm_record', { recordRpmMilli: '42150' }, 'Record: The most turns per minute so far: 42.15.'],
];

it.each(saidOfEvents)('%s of %j is a sentence with links', (type, payload, expected, links = '') => {
  const isOfWheel = type.startsWith('measurement.');
  const event = { type, payload, source: isOfWheel ? wheelSource : chainSource } as unknown as FeedEvent;
  const { title, sentence } = describeEvent(event);
  expect(`${title}: ${writeSentence(sentence)}`).toBe(expected);
  const list = (said: Sentence): string[] =>
    said.flatMap((part) => {
      if (typeof part === 'string') return [];
      return 'place' in part ? formatPlace(part.place) : list(part.all);
    });
  expect(list(sentence).join(' ')).toBe(links);
  expect(nameEventSource(event)).toBe(isOfWheel ? 'reading 1,234 of wheel' : 'chain block 1,234');
  expect(findTone(event)).toBe(
    isOfWheel ? 'measured' : type === 'system.settlement_completed' ? 'settled' : 'issued',
  );
});

const turning = { rpmMilli: 1, speedMmPerSecond: 0, freshness: 'online', coreStatus: 'OK' };
const resting = { ...turning, rpmMilli: 0 };
const rolling = { ...resting, speedMmPerSecond: 1 };
const broken = { ...turning, coreStatus: 'COUNTER_FAULT' };
const stale = { ...broken, freshness: 'stale' };

it.each([
  [turning, 'Turning', 'turning', 'The wheel is turning.', 'The wheel was turning.'],
  [rolling, 'Turning', 'turning', 'The wheel is turning.', 'The wheel was turning.'],
  [resting, 'Resting', 'resting', 'The wheel is resting.', 'The wheel was resting.'],
  [broken, 'Counter fault', 'fault', 'The counter reports a fault.', 'The counter reported a fault.'],
  [stale, 'Out of touch', 'stale', 'The wheel is out of touch.', 'The wheel was out of touch.'],
  [null, 'Unknown', 'unknown', 'The wheel has not reported yet.', 'The wheel had not reported yet.'],
] as const)(
  'a wheel of which %j is known is called %s',
  (measurement, title, state, sentence, lostSentence) => {
    const status = { installationId: 'wheel', measurement } as unknown as Bodies['status'];
    expect(describeWheel(status)).toMatchObject({ state, sentence, lostSentence });
    const settings = { transactionUrl: null, publicUrl: null, files: {} };
    const glance = { place: { view: 'glance' }, nowMs: 0, chain: null, settings, read: () => null } as const;
    expect(describePage({ ...glance, status })).toMatchObject({
      title: `${title} · wheel · Mining activity`,
      icon: `wheel-${state}.svg`,
    });
    expect(describePage({ ...glance, place: { view: 'owners', address: null }, status }).title).toBe(
      'Owners · wheel · Mining activity',
    );
    expect(describePage({ ...glance, status: null })).toMatchObject({
      title: 'At a glance · Mining activity',
      icon: 'wheel-unknown.svg',
    });
  },
);

it.each([
  [{ view: 'miner', id: '7' }, 'Miner 7'],
  [{ view: 'transaction', id: `0x${'ab'.repeat(32)}` }, 'Transaction 0xababab…abab'],
  [{ view: 'day', id: '2026-11-22' }, 'Day of 22 Nov 2026'],
  [{ view: 'owners', address: `0x${'ab'.repeat(20)}` }, 'Owner 0xababab…abab'],
  [{ view: 'missing', reason: '', others: [{ view: 'glance' }] }, 'Not found'],
  [{ view: 'missing', reason: '', others: [{ view: 'glance' }, { view: 'glance' }] }, 'Which one?'],
] as [Place, string][])('%j is called %s', (place, name) => {
  expect(nameView(place)).toBe(name);
});
