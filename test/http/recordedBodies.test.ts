import { List } from 'immutable';
import { expect, it } from 'vitest';
import type { MeasurementEvent } from '../../actors/events/eventSchemas.ts';
import { nothingEvicted } from '../../actors/events/eventWindow.ts';
import type { ChainFeedEvent } from '../../actors/views/chain/chainViewTypes.ts';
import type { MeasurementProgress } from '../../actors/wheel/measurementEvents.ts';
import { writeModelText, writeSitemap } from '../../http/routes/documentation/machineTexts.ts';
import {
  buildEconomyEvents,
  buildState,
  createStateViews,
  stateOwner as owner,
} from '../support/chain/economyState.ts';
import { minted } from '../support/chain/feedEvents.ts';
import { buildFeedEvent, replaceFeed, rewardsClaimed } from '../support/chain/feedOfEvents.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const details: ChainFeedEvent['details'][] = [
  rewardsClaimed,
  minted,
  {
    type: 'player.miners_merged',
    owner,
    survivorTokenId: 1n,
    donorTokenId: 2n,
    level: 3,
    effectiveRound: 5n,
    nextMergeBlock: 6n,
  },
];

/** Achievements of each type. */
const achievements: MeasurementEvent['achievement'][] = [
  { type: 'measurement.distance_milestone', threshold: 1_000_000n, observed: 1_000_001n },
  { type: 'measurement.daily_distance_milestone', threshold: 1, observed: 2, utcDate: '2026-01-31' },
  { type: 'measurement.speed_milestone', threshold: 1, observed: 2 },
  { type: 'measurement.speed_record', previous: null, observed: 2 },
  { type: 'measurement.speed_record', previous: 2, observed: 3 },
  { type: 'measurement.distance_streak', days: 2, endingUtcDate: '2026-01-31' },
];

/** Events that one reading reached. */
function buildProgress(): MeasurementProgress {
  const { installationId, position, telemetryId, observedAtMs, receivedAtMs } = acceptedReading();
  const at = { installationId, position, telemetryId, observedAtMs, receivedAtMs };
  const arrived = { ...at, family: 'measurement', arrivedAtMs: receivedAtMs + 1_500 } as const;
  const events = List(achievements.map((achievement, ordinal) => ({ ...arrived, achievement, ordinal })));
  // The feed asks for nothing else.
  return {
    run: 'measured',
    events,
    evicted: nothingEvicted,
  } as Partial<MeasurementProgress> as MeasurementProgress;
}

it('the same state has the recorded bodies', async () => {
  const state = buildState(buildEconomyEvents());
  const events = details.map((one, index) => buildFeedEvent(state, one, index));
  const chain = replaceFeed(createStateViews(state).views, events);
  const server = await startPublicServer({ chain, progress: buildProgress });
  const recorded: string[] = [];
  const record = async (path: string) => {
    const body = (await (await server.get(path)).json()) as object;
    const members = Object.entries(body).map(([name, member]) => `  ${name}: ${JSON.stringify(member)}`);
    recorded.push(path, ...members);
  };
  for (const path of [
    '/v1/core',
    '/v1/settlements',
    '/v4/public/settlements?range=24h',
    '/v4/public/settlements?queue=1',
    '/v1/mining/state',
    '/v2/public/miners/state',
    `/v1/owners/${owner}/miners`,
    `/v2/public/miners/activity?owner=${owner}`,
    '/v1/miners/1/metadata',
    '/v1/events',
  ])
    await record(path);
  recorded.push(writeSitemap('https://wheel.example'), writeModelText());
  await expect(`${recorded.join('\n')}\n`).toMatchFileSnapshot('recordedBodies.txt');
});
