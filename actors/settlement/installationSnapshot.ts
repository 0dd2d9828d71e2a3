import { List } from 'immutable';
import { z } from 'zod';
import { type ClosedRound, closedRound } from '../../machines/settlementEvents.ts';
import { type ModuleView, moduleView } from '../device/moduleSnapshot.ts';
import { type SignerIdentity, signerIdentity } from '../device/signerIdentity.ts';
import {
  type FoldRecord,
  kindsOf,
  listBy,
  listByNumber,
  listFrom,
  listOne,
  listRecords,
  RecordRefused,
  type Restoration,
  restoreInto,
} from '../folds/foldRecord.ts';
import { type PlacesState, placesState } from '../folds/places.ts';
import { milliseconds } from '../schemas/stateScalars.ts';
import { decodeIds, encodeIds, idRun, type RememberedIds } from './rememberedIds.ts';
import { type EndedSubmission, endedSubmission, type Settlement } from './settlementActor.ts';
import { persistedMachine, persistMachine, resolveMachine } from './settlementSnapshot.ts';

export interface CapturedInstallation {
  readonly installationId: string;
  readonly modules: readonly ModuleView[];
  readonly signer: SignerIdentity | null;
  readonly acceptedSigners: RememberedIds;
  readonly settlement: Settlement;
  /** When the stream stored the last accepted message (epoch milliseconds). */
  readonly heardAtMs: number;
  /**
   * An earlier installation of this name may have sent messages through this time (epoch milliseconds) and been forgotten, so no message from
   * before is accepted; null if no installation had been forgotten when this one began.
   */
  readonly forgottenThroughMs: number | null;
}

/** Content of a snapshot of `MINER_PIPELINE`. Immutable. */
interface CapturedInstallations {
  readonly installations: readonly CapturedInstallation[];
  readonly places: PlacesState | null;
}

const heard = z.strictObject({ heardAtMs: milliseconds, forgottenThroughMs: milliseconds.nullable() });
const settlement = z.strictObject({ machine: persistedMachine, submissionsSinceMs: milliseconds.nullable() });

const createDraft = () => ({
  heard: [] as z.input<typeof heard>[],
  settlement: [] as z.input<typeof settlement>[],
  closedRounds: [] as ClosedRound[],
  /** By index among all that have ended. */
  endedSubmissions: new Map<number, EndedSubmission>(),
  /** Each with its list and number. */
  ids: [] as { readonly of: string; readonly run: z.input<typeof idRun> }[],
  signer: [] as SignerIdentity[],
  modules: [] as ModuleView[],
});
type InstallationDraft = ReturnType<typeof createDraft>;

/** Once a new installation has asked for a place. */
const placesKind = kindsOf<PlacesState | null, PlacesState[]>()('places', placesState, {
  list: listOne,
  restore: (draft, places) => draft.push(places),
});

const define = kindsOf<CapturedInstallation, InstallationDraft>();

/** Kinds of each installation, whose ID their keys begin with. */
const eachKinds = [
  define('heard', heard, {
    list: listOne,
    restore: (draft, one) => draft.heard.push(one),
  }),
  // Once published.
  define('signer', signerIdentity, {
    list: ({ signer }) => listOne(signer),
    restore: ({ signer }, one) => signer.push(one),
  }),
  define('module', moduleView, {
    list: ({ modules }) => listBy(({ instanceId }) => instanceId, modules),
    restore: ({ modules }, one) => modules.push(one),
  }),
  define('settlement', settlement, {
    list: ({ settlement: { snapshot, submissionsSinceMs } }) =>
      listOne({ machine: persistMachine(snapshot), submissionsSinceMs }),
    restore: (draft, one) => draft.settlement.push(one),
  }),
  // By round.
  define('closedRound', closedRound, {
    list: ({ settlement: { closedRounds } }) => listBy(({ roundId }) => roundId, closedRounds),
    restore: ({ closedRounds }, one) => closedRounds.push(one),
  }),
  // By index among all that have ended.
  define('endedSubmission', endedSubmission, {
    list: ({ settlement: { evictedSubmissions, endedSubmissions } }) =>
      listFrom(evictedSubmissions, endedSubmissions),
    restore: ({ endedSubmissions }, one, index) => endedSubmissions.set(Number(index), one),
  }),
  // By list and number of the record.
  define('rememberedIds', idRun, {
    *list({ acceptedSigners: signers, settlement: { ended, acceptedMessages: messages } }) {
      for (const [list, ids] of Object.entries({ ...ended, messages, signers }))
        for (const [number, run] of encodeIds(ids).entries()) yield [`${list}/${number}`, run];
    },
    restore: ({ ids }, run, of) => ids.push({ of, run }),
  }),
];

export const installationKinds = [placesKind, ...eachKinds];
const restoreEach = restoreInto(eachKinds);

/** The records of a state. */
export function* encodeInstallations({ installations, places }: CapturedInstallations): Iterable<FoldRecord> {
  yield* placesKind.list(places);
  for (const one of installations)
    for (const { key, ...record } of listRecords(eachKinds, one))
      yield { ...record, key: key === '' ? one.installationId : `${one.installationId}/${key}` };
}

/** Restores any number of installations from the records of {@link encodeInstallations}. */
export function createInstallationsRestoration(): Restoration<CapturedInstallations> {
  const places: PlacesState[] = [];
  const drafts = new Map<string, InstallationDraft>();

  function add(record: FoldRecord): void {
    if (record.kind === placesKind.kind) {
      placesKind.restore(places, record);
      return;
    }
    const [installationId = '', ...rest] = record.key.split('/');
    const draft = drafts.get(installationId) ?? createDraft();
    drafts.set(installationId, draft);
    restoreEach(draft, { ...record, key: rest.join('/') });
  }

  return {
    add,
    complete: () => ({ places: places[0] ?? null, installations: Array.from(drafts, buildInstallation) }),
  };
}

/** @throws RecordRefused if the parts are inconsistent. */
function buildInstallation([installationId, draft]: readonly [
  string,
  InstallationDraft,
]): CapturedInstallation {
  const { ids, modules, endedSubmissions } = draft;
  const [own] = draft.settlement;
  const [times] = draft.heard;
  if (own === undefined)
    throw new RecordRefused(`${installationId} has records, but its settlement has none`);
  if (times === undefined)
    throw new RecordRefused(`${installationId} has records, but not when it was heard`);
  const listIds = (list: string) =>
    decodeIds(ids.filter(({ of }) => of.startsWith(`${list}/`)).map(({ run }) => run));
  const evictedSubmissions = Math.min(...endedSubmissions.keys());
  return {
    ...{ installationId, ...times, modules, signer: draft.signer[0] ?? null },
    acceptedSigners: listIds('signers'),
    settlement: {
      snapshot: resolveMachine(own.machine),
      closedRounds: List(draft.closedRounds.sort((a, b) => (a.roundId < b.roundId ? -1 : 1))),
      submissionsSinceMs: own.submissionsSinceMs,
      evictedSubmissions: endedSubmissions.size === 0 ? 0 : evictedSubmissions,
      endedSubmissions: List(listByNumber('ended submission', endedSubmissions, evictedSubmissions)),
      ended: {
        submissions: listIds('submissions'),
        runs: listIds('runs'),
        incidents: listIds('incidents'),
      },
      acceptedMessages: listIds('messages'),
    },
  };
}
