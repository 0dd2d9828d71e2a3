import { stringify } from '../bigintJson.ts';
import type { FoldRecord } from '../foldRecord.ts';
import { chainRecords, namedChainRecords } from './chainRecords.ts';
import { nothingArchived } from './settlements.ts';

/** The version of the fold that kept all history in memory. */
export const foldVersionBeforeRows = 4;
/** The version whose positions and events of owners had the names of their members. */
export const foldVersionBeforeLists = 5;
export const convertibleFoldVersions = [foldVersionBeforeRows, foldVersionBeforeLists] as const;

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

/**
 * A record of a snapshot of one of {@link convertibleFoldVersions}, as this version has it.
 *
 * @throws RecordRefused
 */
export function convertChainRecord(record: FoldRecord, foldVersion: number): FoldRecord {
  return convertToList(foldVersion === foldVersionBeforeRows ? addMembers(record) : record);
}

/** Nothing has become a row yet. */
function addMembers(record: FoldRecord): FoldRecord {
  const { kind, value } = record;
  const members = added[kind];
  return members === undefined || value === null
    ? record
    : { ...record, value: `${value.slice(0, -1)},${members}}` };
}

function convertToList(record: FoldRecord): FoldRecord {
  const { position, activity } = chainRecords;
  const { kind, key } = record;
  if (kind === position.kind)
    return position.writeChange(key, namedChainRecords.position.read(record) ?? undefined);
  if (kind === activity.kind)
    return activity.writeChange(key, namedChainRecords.activity.read(record) ?? undefined);
  return record;
}
