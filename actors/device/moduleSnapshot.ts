import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { moduleStates } from '../../machines/moduleMachine.ts';
import { milliseconds } from '../schemas/stateScalars.ts';
import { timestamp } from '../schemas/wireScalars.ts';
import { withoutDefaults } from '../schemas/withoutDefaults.ts';
import { provenances } from '../wheel/counterReading.ts';

const name = z.string().min(1).max(128);

const health = z.object({
  checkedAt: timestamp.describe('When the health was checked'),
  message: z.string().max(1024).nullable().optional().describe('The trouble, in words'),
  code: z.string().max(128).nullable().optional().describe('The trouble, as a code'),
});

/**
 * A module's snapshot of itself, published by the device agent on `miner.module.<installation>.<instance>`
 * (MESSAGES.md, Module snapshot). `data` is any object; it is never published.
 */
export const moduleSnapshotMessage = z.object({
  instanceId: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'expected 1-128 characters of A-Z a-z 0-9 . _ : -')
    .describe('The instance in the subject'),
  moduleType: name.describe('What the module is, such as `wheel-sensor`'),
  driverId: name.describe('The driver that runs it'),
  moduleVersion: name.describe('Version of the module'),
  schemaVersion: z.int().min(1).describe('Version of the form of `data`'),
  state: z.enum(moduleStates).describe('The state that the module reports'),
  observedAt: timestamp.describe('When the device observed the state'),
  provenance: z.enum(provenances).describe('Where the snapshot comes from'),
  health: health.describe('The newest check'),
  data: z.record(z.string(), z.unknown()).describe('Anything else; never shown'),
});
export type ModuleSnapshotMessage = z.infer<typeof moduleSnapshotMessage>;

const { checkedAt: _checkedAt, ...healthMembers } = health.shape;

/** A stored module snapshot: without its data, times in epoch milliseconds. */
export const moduleView = z.strictObject(
  withoutDefaults(
    moduleSnapshotMessage.omit({ observedAt: true, data: true }).extend({
      observedAtMs: milliseconds,
      health: z.strictObject({ ...withoutDefaults(healthMembers), checkedAtMs: milliseconds }),
    }).shape,
  ),
);
export type ModuleView = Inferred<typeof moduleView>;

/** Module snapshots of one installation, ordered by instance ID. */
export interface ModulesView {
  readonly installationId: string;
  readonly modules: readonly ModuleView[];
}
