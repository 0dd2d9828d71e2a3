import { isOfFold } from '../actors/foldIdentity.ts';
import type { Database } from './database.ts';
import { type GenerationIdentity, generations } from './tables/generations.ts';
import { insertRows } from './tables/table.ts';
import type { Tables } from './tables.ts';

const identities = generations.select('foldVersion', 'configuration', 'streamCreated');

/** The noted source of a generation's rows; null if none was noted. */
export async function readGenerationIdentity(
  database: Database,
  { generation }: Tables,
): Promise<GenerationIdentity | null> {
  const [row] = await database.select(
    `SELECT ${identities.list} FROM ${generations.name}
     WHERE generation = {generation:Int64} ORDER BY at_ms DESC LIMIT 1`,
    { generation },
  );
  return row === undefined ? null : identities.read(row);
}

export function isSameIdentity(one: GenerationIdentity, other: GenerationIdentity): boolean {
  return isOfFold(one, other) && one.streamCreated === other.streamCreated;
}

/** Generations that began with an identity, newest first. */
export async function findGenerations(database: Database, identity: GenerationIdentity): Promise<number[]> {
  const rows = await database.select(
    `SELECT ${generations.list} FROM ${generations.name} ORDER BY generation DESC, at_ms DESC`,
  );
  return rows
    .map(generations.read)
    .filter((row) => isSameIdentity(row, identity))
    .map(({ generation }) => generation);
}

export async function noteGeneration(
  database: Database,
  row: GenerationIdentity & { readonly generation: number; readonly atMs: number },
): Promise<void> {
  await insertRows(database, generations, [row]);
}
