import { cacheView } from '../caching/cacheView.ts';
import { createModuleActor, type ModuleActor, measureModule } from '../device/moduleActor.ts';
import type { ModulesView } from '../device/moduleSnapshot.ts';
import type { SignerIdentity } from '../device/signerIdentity.ts';
import { identifyFold } from '../folds/foldIdentity.ts';
import type { FoldRecord, StateRestoration } from '../folds/foldRecord.ts';
import { createPlaces, describeForgotten, installationsMax } from '../folds/places.ts';
import { type Outcome, type Received, reject } from '../messages/decodeMessage.ts';
import { readStoredAtMs, type StreamMessage } from '../messages/streamMessage.ts';
import { foldVersions } from '../versions.ts';
import { decodeSettlement, findMadeAtMs, type SettlementStreamMessage } from './decodeSettlement.ts';
import {
  type CapturedInstallation,
  createInstallationsRestoration,
  encodeInstallations,
} from './installationSnapshot.ts';
import {
  identifyMessage,
  isRemembered,
  noRememberedIds,
  type RememberedIds,
  rememberId,
} from './rememberedIds.ts';
import { createSettlementActor, initialSettlement, type SettlementActor } from './settlementActor.ts';

/** Maximum number of instances per installation; a device has a handful. Further ones are rejected. */
export const instancesMax = 256;

/** Bytes of all snapshots of an installation without their data, since one body shows all of them. */
export const moduleBytesMax = 64 * 1024;

/** Messages of `MINER_PIPELINE` have no output other than the new state. */
const folded = { output: null } as const;

interface InstallationSettlement {
  readonly modules: Map<string, ModuleActor>;
  signer: SignerIdentity | null;
  /** Accepted signers. A signer that is stored again later must not replace its successor. */
  acceptedSigners: RememberedIds;
  settlement: SettlementActor;
  /** See {@link CapturedInstallation}. */
  heardAtMs: number;
  readonly forgottenThroughMs: number | null;
  /** Number of reports accepted since the start. */
  reports: number;
  /** The same view until {@link reports} changes. */
  readonly view: () => ModulesView;
}

export type SettlementActors = ReturnType<typeof createSettlementActors>;

/** The actors of `MINER_PIPELINE`: modules, signer, oracle and reporter of each installation. */
export function createSettlementActors(settings: {
  /** Start of round 1 (epoch milliseconds). */
  readonly genesisMs: number;
  readonly publicInstallationId?: string;
  /** Number of installations with places, not counting the public one. */
  readonly installationsMax?: number | undefined;
}) {
  const { genesisMs } = settings;
  const placesOptions = {
    max: settings.installationsMax ?? installationsMax,
    publicInstallationId: settings.publicInstallationId ?? '',
    readHeardAtMs: ({ heardAtMs }: InstallationSettlement) => heardAtMs,
  };
  let places = createPlaces(placesOptions);
  const viewUnreported = cacheView({
    inputs: (installationId: string) => [installationId],
    compute: (installationId): ModulesView => ({ installationId, modules: [] }),
  });

  function receive(message: StreamMessage): Outcome<null> {
    const storedAtMs = readStoredAtMs(message);
    const decoded = decodeSettlement(message, storedAtMs, genesisMs);
    if (decoded === null) return 'unread';
    if ('rejection' in decoded) return decoded;
    const { value } = decoded;
    const known = places.entries.get(value.installationId);
    if (known !== undefined) return receiveFor(known, value, storedAtMs);
    const { installationId } = value;
    const refusal = places.refuse(installationId, { storedAtMs, madeAtMs: findMadeAtMs(value) });
    if (refusal !== null) return reject('too_many_installations', refusal);
    const isPublic = installationId === placesOptions.publicInstallationId;
    // The public one was never forgotten.
    const forgottenThroughMs = isPublic ? null : places.forgottenThroughMs();
    const installation = createInstallation({ ...nothingHeard, installationId, forgottenThroughMs });
    const outcome = receiveFor(installation, value, storedAtMs);
    if ('output' in outcome) places.take(installationId, installation, storedAtMs);
    return outcome;
  }

  function beginRestore(): StateRestoration {
    const restoration = createInstallationsRestoration();
    return {
      add: restoration.add,
      complete: () => {
        const { installations, places: state } = restoration.complete();
        const entries = installations.map((one) => [one.installationId, createInstallation(one)] as const);
        return () => {
          places = createPlaces(placesOptions, { entries, state });
        };
      },
    };
  }

  /** The same view until a module of the installation reports. */
  function modules(installationId: string): ModulesView {
    return places.entries.get(installationId)?.view() ?? viewUnreported(installationId);
  }

  return {
    identity: identifyFold(foldVersions.MINER_PIPELINE.version, { genesisMs }),
    receive,
    modules,
    /** Null if none was published. */
    signer: (installationId: string): SignerIdentity | null =>
      places.entries.get(installationId)?.signer ?? null,
    /** The same object until a message of the installation's oracle or reporter is accepted. */
    settlement: (installationId: string) =>
      places.entries.get(installationId)?.settlement.settlement() ?? initialSettlement,
    places: () => places.counts(),
    /** The records of the state as of this call. */
    capture: (): Iterable<FoldRecord> => {
      // The values are immutable, but the installations' members are replaced.
      const installations = Array.from(places.entries.values(), (installation) => {
        const { signer, acceptedSigners, heardAtMs, forgottenThroughMs } = installation;
        const settlement = installation.settlement.settlement();
        const one = { signer, acceptedSigners, settlement, heardAtMs, forgottenThroughMs };
        return { ...installation.view(), ...one };
      });
      return encodeInstallations({ installations, places: places.state() });
    },
    beginRestore,
  };
}

const nothingHeard: Omit<CapturedInstallation, 'installationId' | 'forgottenThroughMs'> = {
  modules: [],
  signer: null,
  acceptedSigners: noRememberedIds,
  settlement: initialSettlement,
  heardAtMs: 0,
};

function createInstallation({ installationId, ...captured }: CapturedInstallation): InstallationSettlement {
  const modules = new Map(captured.modules.map((one) => [one.instanceId, createModuleActor(one)] as const));
  const installation: InstallationSettlement = {
    modules,
    signer: captured.signer,
    acceptedSigners: captured.acceptedSigners,
    settlement: createSettlementActor(captured.settlement),
    heardAtMs: captured.heardAtMs,
    forgottenThroughMs: captured.forgottenThroughMs,
    reports: 0,
    view: cacheView({
      inputs: () => [installation.reports],
      compute: () => viewModules(installationId, modules),
    }),
  };
  return installation;
}

/** Folds a message of an installation with a place. An accepted one is noted as the last that was heard. */
function receiveFor(
  installation: InstallationSettlement,
  value: SettlementStreamMessage,
  storedAtMs: number,
): Received<null> {
  const { forgottenThroughMs } = installation;
  if (forgottenThroughMs !== null && findMadeAtMs(value) <= forgottenThroughMs)
    return reject('too_many_installations', describeForgotten(forgottenThroughMs));
  const outcome = receiveKind(installation, value, storedAtMs);
  if ('output' in outcome) installation.heardAtMs = storedAtMs;
  return outcome;
}

function receiveKind(
  installation: InstallationSettlement,
  value: SettlementStreamMessage,
  storedAtMs: number,
): Received<null> {
  if (value.kind === 'module') return receiveModule(installation, value);
  if (value.kind === 'signer') {
    const id = identifyMessage(value.signer);
    if (isRemembered(installation.acceptedSigners, id))
      return reject('not_allowed', 'message: expected a new one, given one that was accepted before');
    installation.acceptedSigners = rememberId(installation.acceptedSigners, id, storedAtMs);
    installation.signer = value.signer;
    return folded;
  }
  const rejection = installation.settlement.receive(value, storedAtMs);
  return rejection === null ? folded : { rejection };
}

function receiveModule(
  installation: InstallationSettlement,
  { installationId, module }: Extract<SettlementStreamMessage, { kind: 'module' }>,
): Received<null> {
  const known = installation.modules.get(module.instanceId);
  if (known === undefined && installation.modules.size >= instancesMax) {
    return reject(
      'too_many_instances',
      `instanceId: expected one of the ${instancesMax} known instances of ${installationId}, given ${module.instanceId}`,
    );
  }
  let bytes = measureModule(module);
  for (const other of installation.modules.values()) if (other !== known) bytes += other.bytes();
  if (bytes > moduleBytesMax) {
    return reject(
      'modules_too_large',
      `message: expected at most ${moduleBytesMax} bytes of all modules of ${installationId} without data, given ${bytes} with ${module.instanceId}`,
    );
  }
  const rejection = known?.receive(module) ?? null;
  if (rejection !== null) return { rejection };
  if (known === undefined) installation.modules.set(module.instanceId, createModuleActor(module));
  installation.reports++;
  return folded;
}

function viewModules(installationId: string, modules: ReadonlyMap<string, ModuleActor>): ModulesView {
  const views = [...modules.values()].map((module) => module.view());
  views.sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
  return { installationId, modules: views };
}
