import { z } from 'zod';
import { type ModuleView, moduleView } from '../device/moduleSnapshot.ts';
import { type SignerIdentity, signerIdentity } from '../device/signerIdentity.ts';
import {
  collectRecords,
  defineRecord,
  dispatchRecords,
  type FoldRecord,
  RecordRefused,
  type Restoration,
} from '../folds/foldRecord.ts';
import { type PlacesState, placesState } from '../folds/places.ts';
import { milliseconds } from '../schemas/stateScalars.ts';
import { decodeIds, type RememberedIds } from './rememberedIds.ts';
import type { Settlement } from './settlementActor.ts';
import {
  buildSettlement,
  encodeIdList,
  encodeSettlement,
  type IdList,
  settlementRecords,
} from './settlementSnapshot.ts';

/** Kinds of records of installations. Each key but the first one begins with the installation. */
export const installationRecords = {
  /** One, with an empty key, once a new installation has asked for a place. */
  places: defineRecord('places', placesState),
  /** One per installation. */
  heard: defineRecord(
    'heard',
    z.strictObject({ heardAtMs: milliseconds, forgottenThroughMs: milliseconds.nullable() }),
  ),
  /** One per installation, once published. */
  signer: defineRecord('signer', signerIdentity),
  /** By instance. */
  module: defineRecord('module', moduleView),
} as const;

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

/** The records of a state. */
export function* encodeInstallations({ installations, places }: CapturedInstallations): Iterable<FoldRecord> {
  if (places !== null) yield installationRecords.places.write('', places);
  for (const one of installations) yield* encodeInstallation(one);
}

function* encodeInstallation(installation: CapturedInstallation): Iterable<FoldRecord> {
  const { installationId, modules, signer, acceptedSigners, settlement } = installation;
  const { heardAtMs, forgottenThroughMs } = installation;
  yield installationRecords.heard.write(installationId, { heardAtMs, forgottenThroughMs });
  yield* encodeSettlement(installationId, settlement);
  if (signer !== null) yield installationRecords.signer.write(installationId, signer);
  yield* encodeIdList(`${installationId}/signers`, acceptedSigners);
  for (const one of modules)
    yield installationRecords.module.write(`${installationId}/${one.instanceId}`, one);
}

/** Restores any number of installations from the records of {@link encodeInstallations}. */
export function createInstallationsRestoration(): Restoration<CapturedInstallations> {
  const settlements = collectRecords(settlementRecords.settlement);
  const closedRounds = collectRecords(settlementRecords.closedRound);
  const endedSubmissions = collectRecords(settlementRecords.endedSubmission);
  const rememberedIds = collectRecords(settlementRecords.rememberedIds);
  const signers = collectRecords(installationRecords.signer);
  const modules = collectRecords(installationRecords.module);
  const heard = collectRecords(installationRecords.heard);
  const places = collectRecords(installationRecords.places);
  const ofDevices = [signers, modules, heard, places];
  const add = dispatchRecords(settlements, closedRounds, endedSubmissions, rememberedIds, ...ofDevices);

  function complete(): CapturedInstallations {
    const roundsByInstallation = groupByInstallation(closedRounds.values);
    const endedByInstallation = groupByInstallation(endedSubmissions.values);
    const idsByInstallation = groupByInstallation(rememberedIds.values);
    const modulesByInstallation = groupByInstallation(modules.values);
    for (const grouped of [
      roundsByInstallation,
      endedByInstallation,
      idsByInstallation,
      modulesByInstallation,
      signers.values,
      heard.values,
    ])
      for (const installationId of grouped.keys())
        if (!settlements.values.has(installationId))
          throw new RecordRefused(`${installationId} has records, but its settlement has none`);
    const installations = Array.from(
      settlements.values,
      ([installationId, { machine, submissionsSinceMs }]) => {
        const times = heard.values.get(installationId);
        if (times === undefined)
          throw new RecordRefused(`${installationId} has records, but not when it was heard`);
        const ids = idsByInstallation.get(installationId) ?? [];
        const ended = endedByInstallation.get(installationId) ?? [];
        const listIds = (list: IdList) =>
          decodeIds(ids.filter(([rest]) => rest.startsWith(`${list}/`)).map(([, run]) => run));
        return {
          installationId,
          ...times,
          modules: (modulesByInstallation.get(installationId) ?? []).map(([, one]) => one),
          signer: signers.values.get(installationId) ?? null,
          acceptedSigners: listIds('signers'),
          settlement: buildSettlement({
            machine,
            submissionsSinceMs,
            closedRounds: (roundsByInstallation.get(installationId) ?? []).map(([, one]) => one),
            endedSubmissions: new Map(ended.map(([index, one]) => [Number(index), one])),
            ids: {
              submissions: listIds('submissions'),
              runs: listIds('runs'),
              incidents: listIds('incidents'),
              messages: listIds('messages'),
            },
          }),
        };
      },
    );
    return { installations, places: places.values.get('') ?? null };
  }

  return { add, complete };
}

/** Values with the rest of their key after the installation. */
type Keyed<Value> = readonly (readonly [rest: string, value: Value])[];

function groupByInstallation<Value>(values: ReadonlyMap<string, Value>): ReadonlyMap<string, Keyed<Value>> {
  const grouped = new Map<string, (readonly [string, Value])[]>();
  for (const [key, value] of values) {
    const end = key.indexOf('/');
    const installationId = key.slice(0, end);
    const group = grouped.get(installationId);
    const entry = [key.slice(end + 1), value] as const;
    if (group === undefined) grouped.set(installationId, [entry]);
    else group.push(entry);
  }
  return grouped;
}
