import { z } from 'zod';
import type { ProcessView } from '../../../actors/views/actorViews.ts';
import { computeRevision } from '../../../actors/views/revision.ts';
import { toIsoString } from '../encodeView.ts';
import { defineObject, generatedAt, installationId, schemaVersion, text, timestamp } from '../scalars.ts';
import { builder, toBuilderBody } from './builder.ts';
import { measurement, toMeasurementBody } from './measurement.ts';
import { moduleSnapshot, toModuleBody } from './modules.ts';
import { oracle, toOracleBody } from './oracle.ts';
import { settlementQueue, toQueueBody } from './settlementQueue.ts';

const signer = defineObject('Signer', {
  kind: text.describe('Kind of the key'),
  algorithm: text.describe('Signature algorithm'),
  keySlot: text.describe('Where the device keeps the key'),
  enrolledAt: timestamp.describe('When the key was enrolled'),
  lastVerifiedAt: timestamp.describe('When one of its signatures was last verified'),
  lastSignature: z
    .string()
    .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/)
    .meta({ description: 'The signature that was verified then, in base64' }),
});

export const statusResponse = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    installationId: installationId.describe('The public installation'),
    revision: text.meta({ description: 'Opaque; a change of `generatedAt` alone does not change it' }),
    generatedAt,
    measurement: measurement.nullable().describe('The newest accepted reading; null before the first'),
    builder: builder.describe('Projection: all measured work settled now'),
    oracle: oracle.describe('State of the oracle, which closes rounds'),
    settlementQueue: settlementQueue.describe('Rounds that wait for settlement, and the current submission'),
    signer: signer.nullable().describe('The device’s signing key; null if none was reported'),
    modules: z.array(moduleSnapshot).describe('Modules of the device, ordered by `instanceId`'),
  })
  .meta({ id: 'Status', description: 'Pipeline status' });

export type StatusResponse = z.infer<typeof statusResponse>;

export function toStatusBody(view: ProcessView): StatusResponse {
  const shownSigner = toSignerBody(view.signer);
  return {
    schemaVersion: 1,
    installationId: view.installationId,
    revision: computeRevision([view.revision, shownSigner]),
    generatedAt: toIsoString(view.generatedAtMs),
    measurement: view.measurement === null ? null : toMeasurementBody(view.measurement),
    builder: toBuilderBody(view.builder),
    oracle: toOracleBody(view.oracle),
    settlementQueue: toQueueBody(view.settlementQueue),
    signer: shownSigner,
    modules: view.modules.modules.map(toModuleBody),
  };
}

/** Combines the revision, which covers everything except the modules, with a digest of the modules (CONTRACT.md, Caching). */
export function computeStatusTag({ revision, modules }: StatusResponse): string {
  return `${revision}.${computeRevision(modules)}`;
}

function toSignerBody(view: ProcessView['signer']): StatusResponse['signer'] {
  if (view === null) return null;
  return {
    kind: view.kind,
    algorithm: view.algorithm,
    keySlot: view.keySlot,
    lastSignature: view.lastSignature,
    enrolledAt: toIsoString(view.enrolledAtMs),
    lastVerifiedAt: toIsoString(view.lastVerifiedAtMs),
  };
}
