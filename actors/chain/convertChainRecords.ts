import { stringify } from '../bigintJson.ts';
import type { FoldRecord } from '../foldRecord.ts';
import { nothingArchived } from './chainState.ts';

/** The version of the fold that kept all history in memory. */
export const foldVersionBeforeRows = 4;

/**
 * Where nothing says which message made something safe: the first one, so that no row of it is removed but with all others. The snapshot holds
 * what is to become rows, which the stream may not hold any more.
 */
const unknownPosition = 1;

const position = `"position":${unknownPosition}`;
const added: Readonly<Record<string, string>> = {
  activity: position,
  settlement: position,
  checkpoint: position,
  state: `${position},"activityRowsThroughBlock":null,"archive":${stringify(nothingArchived)}`,
};

/** A record of a snapshot of {@link foldVersionBeforeRows}, as this version has it: nothing has become a row yet. */
export function convertChainRecord(record: FoldRecord): FoldRecord {
  const { kind, value } = record;
  const members = added[kind];
  return members === undefined || value === null
    ? record
    : { ...record, value: `${value.slice(0, -1)},${members}}` };
}
