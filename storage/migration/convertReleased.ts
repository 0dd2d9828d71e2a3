import { chainRecords } from '../../actors/chain/records/chainRecords.ts';
import { createChainRestoration, encodeSpanFold } from '../../actors/chain/records/chainSnapshot.ts';
import { ownerEventsRetained } from '../../actors/chain/rows/activityRows.ts';
import { type OwnerEvent, ownerEvent } from '../../actors/chain/state/ownerState.ts';
import type { EventWindow } from '../../actors/events/eventWindow.ts';
import { parse, stringify } from '../../actors/folds/bigintJson.ts';
import { type FoldIdentity, identifyFold } from '../../actors/folds/foldIdentity.ts';
import {
  defineListRecord,
  type FoldRecord,
  RecordRefused,
  type Restoration,
  refuseOnError,
} from '../../actors/folds/foldRecord.ts';
import { aheadMsMax } from '../../actors/messages/futureTimes.ts';
import { findHalfSurrogate } from '../../actors/messages/halfSurrogates.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import {
  createInstallationsRestoration,
  encodeInstallations,
  installationRecords,
} from '../../actors/settlement/installationSnapshot.ts';
import { counterRecords } from '../../actors/wheel/counterRecords.ts';
import { createCounterRestoration, encodeCounters } from '../../actors/wheel/counterSnapshot.ts';
import { type RecentRound, roundMs } from '../../actors/wheel/roundFold.ts';
import type { Database } from '../clickhouse/database.ts';
import { findNewestReleased, type ReleasedSource, readReleasedRecords } from './releasedSnapshots.ts';

/* How the states of version 1.0 become states of this version's folds. */

/** Settings that the identities of the folds depend on. */
export interface MigratedDeployment {
  /** Start of round 1, Unix seconds. */
  readonly genesisTimestamp: number;
  /** The public installation. */
  readonly installationId: string;
}

interface Conversion {
  /** Identity of the fold that wrote the state; of any deployment without a configuration. */
  readonly from: Pick<FoldIdentity, 'foldVersion'> & Partial<FoldIdentity>;
  /** The parts of the identity that are new. */
  readonly to: Partial<FoldIdentity>;
  readonly isNeeded: (record: FoldRecord) => boolean;
  /** Whether messages were accepted that are refused now, since they name times in the future. */
  readonly mayNameFuture: boolean;
  readonly convert: (records: Iterable<FoldRecord>, takenAtMs: number) => Iterable<FoldRecord>;
  /** Checks the converted records, and writes them as its fold does. */
  readonly rewrite: (records: Iterable<FoldRecord>) => RewrittenState;
}

interface RewrittenState {
  readonly records: Iterable<FoldRecord>;
  /** Names the rows that the state relies on; null without any. */
  readonly feed: ReleasedFeed | null;
}

/** The run of the fold that made a state and its rows, and the events that are rows. */
export type ReleasedFeed = Pick<EventWindow<never>, 'run' | 'evicted'>;

function buildConversions({
  genesisTimestamp,
  installationId: publicInstallationId,
}: MigratedDeployment): Readonly<Record<InputStreamName, Conversion>> {
  const genesisMs = genesisTimestamp * 1000;
  const ofCounter = { genesisMs, publicInstallationId };
  return {
    MINER_COUNTER: {
      from: identifyFold(7, ofCounter),
      to: identifyFold(8, ofCounter),
      isNeeded: ({ kind, key }) => kind !== 'recentRounds' || key.startsWith(`${publicInstallationId}/`),
      mayNameFuture: true,
      convert: convertCounter,
      rewrite: (records) => {
        const state = restoreAll(createCounterRestoration(), records);
        return { records: encodeCounters(state), feed: state.progress };
      },
    },
    MINER_PIPELINE: {
      from: identifyFold(5, {}),
      to: identifyFold(6, { genesisMs }),
      isNeeded: () => true,
      mayNameFuture: true,
      convert: convertPipeline,
      rewrite: (records) => ({
        records: encodeInstallations(restoreAll(createInstallationsRestoration(), records)),
        feed: null,
      }),
    },
    MINER_CHAIN: {
      from: { foldVersion: 8 },
      to: {},
      isNeeded: () => true,
      mayNameFuture: false,
      convert: convertChain,
      rewrite: (records) => {
        const captured = restoreAll(createChainRestoration(), records);
        return { records: encodeSpanFold(captured), feed: captured.state.safe.at(-1)?.feed ?? null };
      },
    },
  };
}

function restoreAll<State>(restoration: Restoration<State>, records: Iterable<FoldRecord>): State {
  for (const record of records) restoration.add(record);
  return restoration.complete();
}

/** Only the public installation's rounds are kept. The gateway received a reading shortly before the stream stored it. */
function* convertCounter(records: Iterable<FoldRecord>): Iterable<FoldRecord> {
  const rounds: RecentRound[] = [];
  for (const record of records) {
    if (record.kind === counterRecords.recentRounds.kind)
      rounds.push(...counterRecords.recentRounds.read(record));
    else if (record.kind === counterRecords.installation.kind) {
      const installation = parse(record.value) as { acceptance: { latest: { receivedAtMs: number } } };
      const heardAtMs = installation.acceptance.latest.receivedAtMs;
      yield { ...record, value: stringify({ ...installation, heardAtMs }) };
    } else yield record;
  }
  if (rounds.length > 0)
    yield counterRecords.recentRounds.write(
      '',
      rounds.sort((a, b) => a.roundId - b.roundId),
    );
}

/** Version 1.0 did not note when an installation was heard. It gives its place up 30 days later at the earliest. */
function* convertPipeline(records: Iterable<FoldRecord>, takenAtMs: number): Iterable<FoldRecord> {
  for (const record of records) {
    yield record;
    if (record.kind === 'settlement')
      yield installationRecords.heard.write(record.key, { heardAtMs: takenAtMs, forgottenThroughMs: null });
  }
}

/** Each event had a record, by owner and number, and owners without an event in memory had their number. */
const activity = defineListRecord('activity', ownerEvent);

function* convertChain(records: Iterable<FoldRecord>): Iterable<FoldRecord> {
  const counts = new Map<string, number>();
  const events = new Map<string, { readonly number: number; readonly event: OwnerEvent }[]>();
  let rowsThroughBlock = -1n;
  for (const record of records) {
    const [owner = '', number] = record.key.split('/');
    if (record.kind === 'activityCount') counts.set(record.key, Number(record.value));
    else if (record.kind === activity.kind) {
      const known = events.get(owner) ?? [];
      events.set(owner, known);
      known.push({ number: Number(number), event: activity.read(record) });
    } else {
      if (record.kind === chainRecords.state.kind)
        rowsThroughBlock = chainRecords.state.read(record).activityRowsThroughBlock ?? -1n;
      yield record;
    }
  }
  for (const [owner, activityCount] of counts)
    if (!events.has(owner)) yield chainRecords.owner.write(owner, { activityCount, activity: [] });
  for (const [owner, known] of events) {
    known.sort((a, b) => a.number - b.number);
    const [first] = known;
    const activityCount = (known.at(-1)?.number ?? -1) + 1;
    if (first === undefined || activityCount - first.number !== known.length)
      throw new RecordRefused(`activity of ${owner} is missing`);
    // What is a row, and on no first page, is left out.
    const isKept = ({ number, event }: (typeof known)[number]) =>
      number >= activityCount - ownerEventsRetained || event.source.blockNumber > rowsThroughBlock;
    const kept = known.slice(known.findIndex(isKept)).map(({ event }) => event);
    yield chainRecords.owner.write(owner, { activityCount, activity: kept });
  }
}

/**
 * Why a state holds something of a message that is refused now; null if it holds nothing of the kind. A time that has passed when the
 * state was saved did no harm.
 */
function explainTaint({ kind, key, value }: FoldRecord, limitMs: number, genesisMs: number): string | null {
  if (findHalfSurrogate(value) !== null) return `${kind} ${key} holds half of a surrogate pair`;
  const read = parse(value);
  const name = findLaterTime(read, limitMs);
  if (name !== null) return `${kind} ${key} names a time in the future (${name})`;
  if (kind !== 'closedRound') return null;
  const { roundId } = read as { roundId: bigint };
  return BigInt(genesisMs) + roundId * BigInt(roundMs) > BigInt(limitMs)
    ? `round ${roundId} ends in the future`
    : null;
}

/** The name of the first member in milliseconds that is beyond the limit; null without one. Durations are far below it. */
function findLaterTime(value: unknown, limitMs: number): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (name.endsWith('Ms') && typeof member === 'number' && member > limitMs) return name;
    const found = findLaterTime(member, limitMs);
    if (found !== null) return found;
  }
  return null;
}

interface ConvertedState {
  readonly header: ReleasedSource;
  readonly records: readonly FoldRecord[];
  readonly feed: ReleasedFeed | null;
}

/**
 * The newest state of a stream in a generation of version 1.0, as the folds of this version write it; null without one.
 *
 * @throws SnapshotDamaged or RecordRefused if the state cannot be taken over.
 */
export async function convertNewest(
  database: Database,
  {
    generation,
    stream,
    deployment,
  }: {
    readonly generation: number;
    readonly stream: InputStreamName;
    readonly deployment: MigratedDeployment;
  },
): Promise<ConvertedState | null> {
  const newest = await findNewestReleased(database, generation, stream);
  if (newest === null) return null;
  const { from, to, isNeeded, mayNameFuture, convert, rewrite } = buildConversions(deployment)[stream];
  const { foldVersion, configuration, streamCreated, position, digest, takenAtMs } = newest;
  if (foldVersion !== from.foldVersion || configuration !== (from.configuration ?? configuration))
    throw new RecordRefused('it is of another version or deployment');
  const limitMs = takenAtMs + aheadMsMax;
  const records = [...(await readReleasedRecords(database, generation, newest, isNeeded))];
  const header = { stream, foldVersion, configuration, streamCreated, position, digest, takenAtMs, ...to };
  return refuseOnError(() => {
    for (const record of mayNameFuture ? records : []) {
      const taint = explainTaint(record, limitMs, deployment.genesisTimestamp * 1000);
      if (taint !== null) throw new RecordRefused(taint);
    }
    const { records: rewritten, feed } = rewrite(convert(records, takenAtMs));
    return { header, records: [...rewritten], feed };
  });
}
