import { z } from 'zod';
import { type ModulesView, type ModuleView, moduleStates } from '../../actors/views/views.ts';
import { toIsoString } from './isoTime.ts';
import { installationId, provenance, timestamp } from './scalars.ts';

export const moduleSnapshot = z
  .strictObject({
    instanceId: z.string().min(1),
    moduleType: z.string().min(1),
    driverId: z.string().min(1),
    moduleVersion: z.string().min(1),
    schemaVersion: z.int().min(1).meta({ description: 'Version of the payload of the module' }),
    state: z.enum(moduleStates),
    observedAt: timestamp,
    provenance,
    health: z.strictObject({
      checkedAt: timestamp,
      message: z.string().nullable().optional(),
      code: z.string().nullable().optional(),
    }),
    data: z
      .strictObject({})
      .meta({ description: 'Always empty: what a module knows of its device stays there' }),
  })
  .meta({ id: 'ModuleSnapshot' });

export type ModuleSnapshot = z.infer<typeof moduleSnapshot>;

export const modulesResponse = z
  .strictObject({ schemaVersion: z.literal(1), installationId, modules: z.array(moduleSnapshot) })
  .meta({
    id: 'Modules',
    description: 'Module snapshots of the public installation; none stored is an empty list',
  });

export type ModulesResponse = z.infer<typeof modulesResponse>;

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
