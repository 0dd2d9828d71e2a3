import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { chainRecords } from '../../actors/chain/chainRecords.ts';
import { pipelineRecords } from '../../actors/settlement/pipelineSnapshot.ts';
import { settlementRecords } from '../../actors/settlement/settlementSnapshot.ts';
import { counterRecords } from '../../actors/wheel/counterSnapshot.ts';

const page = readFileSync(new URL('../../actors/STATE.md', import.meta.url), 'utf8');

/** Places of the lists in what a schema describes. */
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
  ['Modules, signers, oracle and reporter', { ...settlementRecords, ...pipelineRecords }],
  ['The chain', chainRecords],
])('the page names every list that the fold of %s keeps, and no other', (title, records) => {
  const section = page.split('\n## ').find((one) => one.startsWith(`${title}\n`)) ?? '';
  const named = section.split('\n').flatMap((line) => /^\| `([^`]+)`/.exec(line)?.[1] ?? []);
  const kept = Object.values(records).flatMap(({ kind, schema }) => [kind, ...listLists(schema, kind)]);
  expect(named.toSorted()).toEqual([...new Set(kept)].toSorted());
});
