import { expect, it } from 'vitest';
import { expectNext, listStagedRounds } from '../../../http/explorer/roundStages.ts';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };

const genesisMs = Date.UTC(2026, 10, 24, 12);
const minute = 60_000;

type Sources = Parameters<typeof listStagedRounds>[0];

function stage(nowMs: number, change: Partial<Sources> = {}, lastClosed: string | null = '5') {
  const { CoreState, Status } = recorded.bodies;
  const { answer } = CoreState;
  const core = {
    ...answer,
    configuration: { ...answer.configuration, genesisTimestamp: String(genesisMs / 1_000) },
    core: { ...answer.core, settledThroughRound: '3' },
  } as Sources['core'];
  const latestClosure =
    lastClosed === null ? null : { ...Status.answer.oracle.latestClosure, lastRound: lastClosed };
  const oracle = { ...Status.answer.oracle, latestClosure } as Sources['oracle'];
  const sources = { core, oracle, mintedThroughRound: '2', statistics: null, nowMs, ...change };
  return listStagedRounds(sources, 24).map(
    ({ round, stage, isOpen, isMissing }) =>
      `${round} ${stage}${isOpen ? ' open' : ''}${isMissing ? ' missing' : ''}`,
  );
}

it('rounds are in the last stage that they have reached', () => {
  expect(stage(genesisMs + 65 * minute)).toEqual([
    '1 issued',
    '2 issued',
    '3 settled',
    '4 optimistic',
    '5 optimistic',
    '6 measured',
    '7 measured open',
  ]);
  expect(stage(genesisMs + 65 * minute, { mintedThroughRound: null }, null).slice(0, 4)).toEqual([
    '1 settled',
    '2 settled',
    '3 settled',
    '4 measured',
  ]);
  // A round begins exactly at the end of the one before.
  expect(stage(genesisMs)).toEqual(['1 issued open']);
  expect(stage(genesisMs + 10 * minute - 1)).toHaveLength(1);
  expect(stage(genesisMs + 10 * minute)).toHaveLength(2);
  expect(stage(genesisMs - 1)).toEqual([]);
  expect(stage(genesisMs + 30 * 24 * 60 * minute)).toHaveLength(24);
});

it('rounds of a half hour that was not observed are missing', () => {
  const { answer } = recorded.bodies.Statistics;
  const day = {
    ...answer.activity.days[0],
    date: '2026-11-24',
    buckets: [{ startMinuteUtc: 750, coverage: 'missing', workUnits: null, observedRoundCount: 0 }],
  };
  const statistics = {
    ...answer,
    activity: { ...answer.activity, days: [day] },
  } as unknown as Sources['statistics'];
  expect(stage(genesisMs + 65 * minute, { statistics })).toEqual([
    '1 issued',
    '2 issued',
    '3 settled',
    '4 optimistic missing',
    '5 optimistic missing',
    '6 measured missing',
    '7 measured open',
  ]);
});

it.each([
  [[0, 60, 120], null],
  [
    [0, 60, 120, 180],
    [60, 240],
  ],
  // One long pause does not change what is usual; the order of the times does not matter.
  [
    [600, 0, 60, 540],
    [60, 660],
  ],
  [[], null],
])('what has happened at the minutes %j is expected again: %j', (minutes, expected) => {
  const next = expectNext(minutes.map((one) => new Date(genesisMs + one * minute).toISOString()));
  const found = next === null ? null : [next.usualMs / minute, (next.nextMs - genesisMs) / minute];
  expect(found).toEqual(expected);
});
