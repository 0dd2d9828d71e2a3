import { type FoldIdentity, isOfFold } from '../actors/foldIdentity.ts';
import type { Database, ResultRow } from './database.ts';
import type { Tables } from './tables.ts';

/** What the rows of a generation were made from: a fold of the counter stream, and that stream. */
export interface GenerationIdentity extends FoldIdentity {
  readonly streamCreated: string;
}

/** What a generation's rows were made from as far as it was noted; null for one that an earlier version of the program filled. */
export async function generationIdentity(
  database: Database,
  { generation }: Tables,
): Promise<GenerationIdentity | null> {
  const [row] = await database.select(
    `SELECT fold_version, configuration, stream_created FROM generations
     WHERE generation = ${generation} ORDER BY at_ms DESC LIMIT 1`,
  );
  return row === undefined ? null : identityOfRow(row);
}

export function isSameIdentity(one: GenerationIdentity, other: GenerationIdentity): boolean {
  return isOfFold(one, other) && one.streamCreated === other.streamCreated;
}

/** Generations that were begun with an identity, the newest first. */
export async function generationsOf(database: Database, identity: GenerationIdentity): Promise<number[]> {
  const rows = await database.select(
    'SELECT fold_version, configuration, stream_created, generation FROM generations ORDER BY generation DESC, at_ms DESC',
  );
  return rows
    .filter((row) => isSameIdentity(identityOfRow(row), identity))
    .map(([, , , generation]) => Number(generation));
}

function identityOfRow([foldVersion, configuration, streamCreated]: ResultRow): GenerationIdentity {
  return {
    foldVersion: Number(foldVersion),
    configuration: configuration as string,
    streamCreated: streamCreated as string,
  };
}

export async function noteGeneration(
  database: Database,
  { generation }: Tables,
  { foldVersion, configuration, streamCreated }: GenerationIdentity,
  nowMs: number,
): Promise<void> {
  await database.insert(
    'generations',
    ['generation', 'fold_version', 'configuration', 'stream_created', 'at_ms'],
    [[generation, foldVersion, configuration, streamCreated, nowMs]],
  );
}
