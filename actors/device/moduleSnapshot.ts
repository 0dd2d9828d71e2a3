import { z } from 'zod';
import { moduleStates } from '../../machines/moduleMachine.ts';
import { timestamp } from '../schemas/wireScalars.ts';
import { provenances } from '../wheel/counterReading.ts';

const name = z.string().min(1).max(128);

/**
 * A module's snapshot of itself, published by the device agent on `miner.module.<installation>.<instance>`
 * (MESSAGES.md, Module snapshot). `data` is any object; it is never published.
 */
export const moduleSnapshotMessage = z.object({
  instanceId: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'expected 1-128 characters of A-Z a-z 0-9 . _ : -'),
  moduleType: name,
  driverId: name,
  moduleVersion: name,
  schemaVersion: z.int().min(1),
  state: z.enum(moduleStates),
  observedAt: timestamp,
  provenance: z.enum(provenances),
  health: z.object({
    checkedAt: timestamp,
    message: z.string().max(1024).nullable().optional(),
    code: z.string().max(128).nullable().optional(),
  }),
  data: z.record(z.string(), z.unknown()),
});
export type ModuleSnapshotMessage = z.infer<typeof moduleSnapshotMessage>;

/** What is stored of a module's snapshot: everything but its data, and its state, which is its machine's. */
export interface ModuleReport {
  readonly instanceId: string;
  readonly moduleType: string;
  readonly driverId: string;
  readonly moduleVersion: string;
  readonly schemaVersion: number;
  readonly observedAtMs: number;
  readonly provenance: ModuleSnapshotMessage['provenance'];
  readonly health: {
    readonly checkedAtMs: number;
    readonly message: string | null | undefined;
    readonly code: string | null | undefined;
  };
}
