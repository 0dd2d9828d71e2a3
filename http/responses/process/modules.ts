import { z } from 'zod';
import { type ModulesView, type ModuleView, moduleStates } from '../../../actors/views/views.ts';
import { toIsoString } from '../isoTime.ts';
import { closed, installationId, provenance, schemaVersion, timestamp } from '../scalars.ts';

export const moduleSnapshot = z
  .strictObject({
    instanceId: z.string().min(1).describe('Names the module within its installation'),
    moduleType: z.string().min(1).describe('What kind of part it is'),
    driverId: z.string().min(1).describe('Names the software that drives it'),
    moduleVersion: z.string().min(1).describe('Version of that software'),
    schemaVersion: z.int().min(1).meta({ description: 'Version of the payload of the module' }),
    state: z
      .enum(moduleStates)
      .describe('What the module says of itself; every move between states is possible'),
    observedAt: timestamp.describe('When the device observed this'),
    provenance: provenance.describe('Where the snapshot comes from'),
    health: z
      .strictObject({
        checkedAt: timestamp.describe('When the module checked itself'),
        message: z.string().nullable().optional().describe('What it found, for people'),
        code: z.string().nullable().optional().describe('The same as a code of the module'),
      })
      .describe('Of its last check of itself'),
    data: z
      .strictObject({})
      .meta({ ...closed, description: 'Always empty: what a module knows of its device stays there' }),
  })
  .meta({ id: 'ModuleSnapshot' });

export type ModuleSnapshot = z.infer<typeof moduleSnapshot>;

export const modulesResponse = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    installationId: installationId.describe('The public installation'),
    modules: z.array(moduleSnapshot).describe('Ordered by `instanceId`; empty where none is stored'),
  })
  .meta({
    id: 'Modules',
    description: 'Module snapshots of the public installation; none stored is an empty list',
  });

type ModulesResponse = z.infer<typeof modulesResponse>;

export function toModulesBody({ installationId, modules }: ModulesView): ModulesResponse {
  return { schemaVersion: 1, installationId, modules: modules.map(toModuleBody) };
}

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
