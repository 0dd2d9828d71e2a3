import { stringify } from '../../actors/bigintJson.ts';
import { chainRecords } from '../../actors/chain/chainRecords.ts';
import type { SpanFoldState } from '../../actors/chain/spanFoldState.ts';
import type { FoldRecord } from '../../actors/foldRecord.ts';
import type { CapturedCounters } from '../../actors/wheel/counterSnapshot.ts';

/** Snapshots as they were written before they consisted of records: lines of JSON. Of the chain, before there were rows of its history. */

const entriesPerLine = 500;

export function writeChainLines(state: SpanFoldState, newestSpanAtMs: number | null): string[] {
  const { safe, ...rest } = state;
  const newest = safe.at(-1) ?? null;
  const head = stringify({ ...rest, newestSpanAtMs, safeBlock: newest?.block.number ?? null });
  if (newest === null) return [head];
  const {
    settlements,
    unprocessedRounds,
    checkpoints,
    mintedRounds,
    minerPositions,
    owners,
    feed,
    ...others
  } = newest;
  const {
    mining,
    collection,
    changed: _changed,
    position: _position,
    activityProgress: _activityProgress,
    archive: _archive,
    ...scalars
  } = others;
  const { perWeightAtActivation, pendingWeight, perWeightByDate, ...miningScalars } = mining;
  const { metadata, ...collectionScalars } = collection;
  return [
    head,
    stringify({
      ...scalars,
      mining: miningScalars,
      collection: collectionScalars,
      feedRun: feed.run,
      givenUpEvents: feed.evicted,
    }),
    ...writeList('settlements', settlements.map(removePosition)),
    ...writeList('unprocessedRounds', unprocessedRounds),
    ...writeList('checkpoints', checkpoints.map(removePosition)),
    ...writeList('mintedRounds', mintedRounds),
    ...writeList('perWeightByDate', perWeightByDate),
    ...writeList('perWeightAtActivation', perWeightAtActivation.entries()),
    ...writeList('pendingWeight', pendingWeight.entries()),
    ...writeList('metadata', metadata.entries()),
    ...writeList('positions', minerPositions.values()),
    ...writeList('feed', feed.events),
    ...[...owners].flatMap(([owner, { tokenIds, activity }]) => [
      stringify({ owner, tokenIds }),
      ...writeList('activity', activity.map(removePosition)),
    ]),
  ];
}

/** Records of the chain as they were written before positions and events of owners were lists. */
export function* writeNamedRecords(records: Iterable<FoldRecord>): Iterable<FoldRecord> {
  for (const record of records) {
    const { kind } = record;
    const read = kind === 'position' || kind === 'activity' ? chainRecords[kind].read : null;
    yield read === null || record.value === null ? record : { ...record, value: stringify(read(record)) };
  }
}

function removePosition({ position: _, ...entry }: { readonly position: number }): object {
  return entry;
}

function writeList(list: string, values: Iterable<unknown>): string[] {
  const all = [...values];
  const lines: string[] = [];
  for (let at = 0; at < all.length; at += entriesPerLine)
    lines.push(stringify({ list, items: all.slice(at, at + entriesPerLine) }));
  return lines;
}

export function writeCounterLines(
  { installations, history, progress }: CapturedCounters,
  publicInstallationId: string,
): string[] {
  const days =
    history === null
      ? null
      : {
          firstObservedAtMs: history.firstObservedAtMs,
          days: [...history.past, history.open].map(({ rounds, ...day }) => ({
            ...day,
            rounds: rounds === null ? null : [...rounds],
          })),
        };
  const { evicted: givenUp, ...reached } = progress ?? { evicted: null };
  const written = progress === null ? null : { ...reached, givenUp };
  return [
    stringify({ history: { installationId: publicInstallationId, days, progress: written } }),
    ...installations.map(({ acceptance, roundState }) => stringify({ acceptance, activity: roundState })),
  ];
}
