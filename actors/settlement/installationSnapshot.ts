import { type ModuleView, moduleView } from '../device/moduleSnapshot.ts';
import { type SignerIdentity, signerIdentity } from '../device/signerIdentity.ts';
import {
  collectRecords,
  defineRecord,
  dispatchRecords,
  type FoldRecord,
  RecordRefused,
  type Restoration,
} from '../foldRecord.ts';
import { decodeIds, noRememberedIds, type RememberedIds } from './rememberedIds.ts';
import type { Settlement } from './settlementActor.ts';
import {
  buildSettlement,
  encodeIdList,
  encodeSettlement,
  type IdList,
  settlementRecords,
} from './settlementSnapshot.ts';

/** Kinds of records of a device. Each key begins with the installation. */
export const installationRecords = {
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
}

/**
 * Records of `after` that differ from `before`; all records if `before` is null. Modules are never removed, and stay the same object
 * until they report.
 */
export function* encodeInstallation(
  after: CapturedInstallation,
  before: CapturedInstallation | null,
): Iterable<FoldRecord> {
  const { installationId, modules, signer, acceptedSigners, settlement } = after;
  yield* encodeSettlement(installationId, settlement, before?.settlement ?? null);
  if (signer !== null && signer !== before?.signer)
    yield installationRecords.signer.write(installationId, signer);
  const signersBefore = before?.acceptedSigners ?? noRememberedIds;
  yield* encodeIdList(`${installationId}/signers`, acceptedSigners, signersBefore);
  const known = new Set(before?.modules);
  for (const one of modules)
    if (!known.has(one)) yield installationRecords.module.write(`${installationId}/${one.instanceId}`, one);
}

/** Restores any number of installations from the records of {@link encodeInstallation}. */
export function createInstallationsRestoration(): Restoration<readonly CapturedInstallation[]> {
  const settlements = collectRecords(settlementRecords.settlement);
  const closedRounds = collectRecords(settlementRecords.closedRound);
  const endedSubmissions = collectRecords(settlementRecords.endedSubmission);
  const rememberedIds = collectRecords(settlementRecords.rememberedIds);
  const signers = collectRecords(installationRecords.signer);
  const modules = collectRecords(installationRecords.module);
  const add = dispatchRecords(settlements, closedRounds, endedSubmissions, rememberedIds, signers, modules);

  function complete(): readonly CapturedInstallation[] {
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
    ])
      for (const installationId of grouped.keys())
        if (!settlements.values.has(installationId))
          throw new RecordRefused(`${installationId} has records, but its settlement has none`);
    return Array.from(settlements.values, ([installationId, { machine, submissionsSinceMs }]) => {
      const ids = idsByInstallation.get(installationId) ?? [];
      const ended = endedByInstallation.get(installationId) ?? [];
      const listIds = (list: IdList) =>
        decodeIds(ids.filter(([rest]) => rest.startsWith(`${list}/`)).map(([, run]) => run));
      return {
        installationId,
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
    });
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
