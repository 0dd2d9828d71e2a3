import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { retainedStatesMax } from '../../actors/chain/fold/spanFoldState.ts';
import { chainRecords } from '../../actors/chain/records/chainRecords.ts';
import { ownerEventsRetained } from '../../actors/chain/rows/activityRows.ts';
import { settlementsRetainedMs } from '../../actors/chain/rows/settlementRows.ts';
import { proposersMax } from '../../actors/chain/spans/chainReads.ts';
import { coreEventsShown } from '../../actors/chain/state/coreState.ts';
import {
  recentCheckpointsShown,
  recentRoundsShown,
  recentSettlementsShown,
} from '../../actors/chain/state/settlements.ts';
import { installationsMax } from '../../actors/folds/installationsMax.ts';
import { installationRecords } from '../../actors/settlement/installationSnapshot.ts';
import { rememberedIdsMax, rememberedIdsMin, rememberedMs } from '../../actors/settlement/rememberedIds.ts';
import { closedRoundsMax, endedSubmissionsMax } from '../../actors/settlement/settlementActor.ts';
import { instancesMax } from '../../actors/settlement/settlementActors.ts';
import { settlementRecords } from '../../actors/settlement/settlementSnapshot.ts';
import { rememberedMarksMax } from '../../actors/wheel/acceptance.ts';
import { counterRecords } from '../../actors/wheel/counterRecords.ts';
import { pastDaysMax } from '../../actors/wheel/dayHistory.ts';
import { recentRoundsMax } from '../../actors/wheel/publicState.ts';
import { approvedEpochsMax, openIncidentsMax } from '../../machines/settlementEvents.ts';

const page = readFileSync(new URL('../../actors/STATE.md', import.meta.url), 'utf8');

/** Paths of the lists in a schema. */
function listLists(schema: z.core.$ZodType, place: string): string[] {
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, member]) => listLists(member, `${place}.${key}`));
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return listLists(schema.unwrap(), place);
  if (schema instanceof z.ZodUnion || schema instanceof z.ZodDiscriminatedUnion)
    return [...new Set(schema.options.flatMap((option) => listLists(option, place)))];
  if (schema instanceof z.ZodArray) return [place, ...listLists(schema.element, place)];
  if (schema instanceof z.ZodTuple) return schema.def.items.flatMap((item) => listLists(item, place));
  const isScalar = ['string', 'number', 'bigint', 'boolean', 'enum', 'literal', 'custom'].includes(
    schema._zod.def.type,
  );
  if (!isScalar)
    throw new Error(`${place} is of a type that this test does not know: ${schema._zod.def.type}`);
  return [];
}

it.each([
  ['Readings', counterRecords],
  ['Modules, signers, oracle and reporter', { ...settlementRecords, ...installationRecords }],
  ['The chain', chainRecords],
])('the page names exactly the lists that the fold keeps: %s', (title, records) => {
  const section = page.split('\n## ').find((one) => one.startsWith(`${title}\n`)) ?? '';
  const named = section.split('\n').flatMap((line) => /^\| `([^`]+)`/.exec(line)?.[1] ?? []);
  const kept = Object.values(records).flatMap(({ kind, schema }) => [kind, ...listLists(schema, kind)]);
  expect(named.toSorted()).toEqual([...new Set(kept)].toSorted());
});

const dayMs = 86_400_000;

it('the page names each bound with the value of its constant', () => {
  const bounds = {
    approvedEpochsMax,
    closedRoundsMax,
    coreEventsShown,
    endedSubmissionsMax,
    installationsMax,
    instancesMax,
    retainedStatesMax,
    openIncidentsMax,
    ownerEventsRetained,
    pastDaysMax,
    proposersMax,
    recentCheckpointsShown,
    recentRoundsMax,
    recentRoundsShown,
    recentSettlementsShown,
    rememberedIdsMax,
    rememberedIdsMin,
    rememberedMarksMax,
    rememberedMs: rememberedMs / dayMs,
    settlementsRetainedMs: settlementsRetainedMs / dayMs,
  };
  const stated = Array.from(
    page.matchAll(/(\d[\d,]*)[^\d|`]*\(`(\w+)`\)/g),
    ([, figure = '', name]) => `${name} ${figure.replaceAll(',', '')}`,
  );
  const expected = Object.entries(bounds).map(([name, figure]) => `${name} ${figure}`);
  expect([...new Set(stated)].toSorted()).toEqual(expected.toSorted());
});
