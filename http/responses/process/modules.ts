import { z } from 'zod';
import type { ModulesView, ModuleView } from '../../../actors/device/moduleSnapshot.ts';
import { moduleStates } from '../../../actors/views/views.ts';
import { toIsoString } from '../encodeView.ts';
import { closed, defineObject, installationId, provenance, schemaVersion, timestamp } from '../scalars.ts';

export const moduleSnapshot = defineObject('ModuleSnapshot', {
  instanceId: z.string().min(1).describe('ID of the module within its installation'),
  moduleType: z.string().min(1).describe('Kind of the module'),
  driverId: z.string().min(1).describe('ID of the module’s driver'),
  moduleVersion: z.string().min(1).describe('Version of the driver'),
  schemaVersion: z.int().min(1).meta({ description: 'Version of the module’s payload' }),
  state: z
    .enum(moduleStates)
    .meta({ id: 'ModuleSnapshotState' })
    .describe('State that the module reports; any state may follow any other'),
  observedAt: timestamp.describe('When the device observed the module'),
  provenance: provenance.describe('Source of the snapshot'),
  health: defineObject('ModuleSnapshotHealth', {
    checkedAt: timestamp.describe('When the module last checked itself'),
    message: z.string().nullable().optional().describe('Result of the check, for people'),
    code: z.string().nullable().optional().describe('Result of the check, as a code of the module'),
  }).describe('Result of the module’s last self-check'),
  data: z.strictObject({}).meta({
    id: 'ModuleSnapshotData',
    ...closed,
    description: 'Always empty, since details of the device are not published',
  }),
});

type ModuleSnapshot = z.infer<typeof moduleSnapshot>;

export const modulesResponse = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    installationId: installationId.describe('The public installation'),
    modules: z.array(moduleSnapshot).describe('Ordered by `instanceId`; empty if none is stored'),
  })
  .meta({
    id: 'Modules',
    description: 'Module snapshots of the public installation',
  });

export function toModulesBody({ installationId, modules }: ModulesView): z.infer<typeof modulesResponse> {
  return { schemaVersion: 1, installationId, modules: modules.map(toModuleBody) };
}

/** Names each member, since what is stored may have more than is shown. */
export function toModuleBody(view: ModuleView): ModuleSnapshot {
  const { checkedAtMs, message, code } = view.health;
  return {
    instanceId: view.instanceId,
    moduleType: view.moduleType,
    driverId: view.driverId,
    moduleVersion: view.moduleVersion,
    schemaVersion: view.schemaVersion,
    state: view.state,
    observedAt: toIsoString(view.observedAtMs),
    provenance: view.provenance,
    health: { checkedAt: toIsoString(checkedAtMs), message, code },
    data: {},
  };
}
