import { cacheView } from '../cacheView.ts';
import { createModuleActor, type ModuleActor } from '../device/moduleActor.ts';
import type { ModulesView } from '../device/moduleSnapshot.ts';
import type { SignerIdentity } from '../device/signerIdentity.ts';
import { identifyFold } from '../foldIdentity.ts';
import type { FoldRecord, StateCapture, StateRestoration } from '../foldRecord.ts';
import { installationsMax } from '../installationsMax.ts';
import { reject } from '../messages/decodeMessage.ts';
import type { Outcome, Received } from '../messages/outcome.ts';
import type { StreamMessage } from '../messages/streamMessage.ts';
import { toMilliseconds } from '../schemas/durations.ts';
import { decodeSettlement, type SettlementStreamMessage } from './decodeSettlement.ts';
import {
  type CapturedInstallation,
  createInstallationsRestoration,
  encodeInstallation,
} from './installationSnapshot.ts';
import {
  identifyMessage,
  isRemembered,
  noRememberedIds,
  type RememberedIds,
  rememberId,
} from './rememberedIds.ts';
import { createSettlementActor, initialSettlement, type SettlementActor } from './settlementActor.ts';

/** Version of the folds of `MINER_PIPELINE`; see counterFoldVersion. */
const settlementFoldVersion = 6;

/** Maximum number of instances per installation; a device has a handful. Further ones are rejected. */
export const instancesMax = 256;

/** Messages of `MINER_PIPELINE` have no output other than the new state. */
const folded = { output: null } as const;

interface InstallationSettlement {
  readonly modules: Map<string, ModuleActor>;
  signer: SignerIdentity | null;
  /** Accepted signers. A signer that is stored again later must not replace its successor. */
  acceptedSigners: RememberedIds;
  settlement: SettlementActor;
  /** Number of reports accepted since the start. */
  reports: number;
  /** The same view until {@link reports} changes. */
  readonly view: () => ModulesView;
}

export type SettlementActors = ReturnType<typeof createSettlementActors>;

/**
 * The actors of `MINER_PIPELINE`: modules, signer, oracle and reporter of each installation.
 *
 * @param genesisMs start of round 1 (epoch milliseconds).
 */
export function createSettlementActors({ genesisMs }: { readonly genesisMs: number }) {
  let installations = new Map<string, InstallationSettlement>();
  /** Null before the first capture, and after a restoration. */
  let captured: CapturedInstallations | null = null;
  const viewUnreported = cacheView({
    inputs: (installationId: string) => [installationId],
    compute: (installationId): ModulesView => ({ installationId, modules: [] }),
  });

  /** Null if this would exceed the maximum of installations. */
  function findOrCreateInstallation(installationId: string): InstallationSettlement | null {
    const known = installations.get(installationId);
    if (known !== undefined) return known;
    if (installations.size >= installationsMax) return null;
    const installation = createInstallation({
      installationId,
      modules: [],
      signer: null,
      acceptedSigners: noRememberedIds,
      settlement: initialSettlement,
    });
    installations.set(installationId, installation);
    return installation;
  }

  function receive(message: StreamMessage): Outcome<null> {
    const decoded = decodeSettlement(message, genesisMs);
    if (decoded === null) return 'unread';
    if ('rejection' in decoded) return decoded;
    const { value } = decoded;
    const storedAtMs = toMilliseconds(message.timestampNanos);
    const installation = findOrCreateInstallation(value.installationId);
    if (installation === null)
      return reject('too_many_installations', `${installationsMax} other installations have messages`);
    if (value.kind === 'module') return receiveModule(installation, value);
    if (value.kind === 'signer') {
      const id = identifyMessage(value.signer);
      if (isRemembered(installation.acceptedSigners, id)) {
        return reject('not_allowed', 'this signer was accepted before');
      }
      installation.acceptedSigners = rememberId(installation.acceptedSigners, id, storedAtMs);
      installation.signer = value.signer;
      return folded;
    }
    const rejection = installation.settlement.receive(value, storedAtMs);
    return rejection === null ? folded : { rejection };
  }

  function beginRestore(): StateRestoration {
    const restoration = createInstallationsRestoration();
    return {
      add: restoration.add,
      complete: () => {
        const restored = restoration
          .complete()
          .map((captured) => [captured.installationId, createInstallation(captured)] as const);
        return () => {
          installations = new Map(restored);
          captured = null;
        };
      },
    };
  }

  /** The same view until a module of the installation reports. */
  function modules(installationId: string): ModulesView {
    return installations.get(installationId)?.view() ?? viewUnreported(installationId);
  }

  return {
    identity: identifyFold(settlementFoldVersion, { genesisMs }),
    receive,
    modules,
    /** Null if none was published. */
    signer: (installationId: string): SignerIdentity | null =>
      installations.get(installationId)?.signer ?? null,
    /** The same object until a message of the installation's oracle or reporter is accepted. */
    settlement: (installationId: string) =>
      installations.get(installationId)?.settlement.settlement() ?? initialSettlement,
    capture: (): StateCapture => {
      const before = captured;
      // The values are immutable, but the installations' members are replaced.
      const entries = Array.from(installations, ([installationId, { view, settlement, ...installation }]) => {
        const { signer, acceptedSigners } = installation;
        return [
          installationId,
          { ...view(), signer, acceptedSigners, settlement: settlement.settlement() },
        ] as const;
      });
      const after = new Map(entries);
      captured = after;
      return {
        all: () => encodeAll(after, null),
        changes: before === null ? null : () => encodeAll(after, before),
      };
    },
    beginRestore,
  };
}

function createInstallation({ installationId, ...captured }: CapturedInstallation): InstallationSettlement {
  const modules = new Map(captured.modules.map((one) => [one.instanceId, createModuleActor(one)] as const));
  const installation: InstallationSettlement = {
    modules,
    signer: captured.signer,
    acceptedSigners: captured.acceptedSigners,
    settlement: createSettlementActor(captured.settlement),
    reports: 0,
    view: cacheView({
      inputs: () => [installation.reports],
      compute: () => viewModules(installationId, modules),
    }),
  };
  return installation;
}

type CapturedInstallations = ReadonlyMap<string, CapturedInstallation>;

function* encodeAll(
  after: CapturedInstallations,
  before: CapturedInstallations | null,
): Iterable<FoldRecord> {
  for (const [installationId, one] of after)
    yield* encodeInstallation(one, before?.get(installationId) ?? null);
}

function receiveModule(
  installation: InstallationSettlement,
  { installationId, module }: Extract<SettlementStreamMessage, { kind: 'module' }>,
): Received<null> {
  const known = installation.modules.get(module.instanceId);
  if (known === undefined && installation.modules.size >= instancesMax) {
    return reject('too_many_instances', `${installationId} reports ${instancesMax} other instances already`);
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
