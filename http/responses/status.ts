import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ProcessView } from '../../actors/views.ts';
import { text } from './chain.ts';
import { moduleBody, moduleSnapshot } from './modules.ts';
import {
  builder,
  builderBody,
  measurement,
  measurementBody,
  oracle,
  oracleBody,
  queueBody,
  settlementQueue,
} from './process.ts';
import { installationId, isoOf, timestamp } from './scalars.ts';

const signer = z
  .strictObject({
    kind: text,
    algorithm: text,
    keySlot: text,
    enrolledAt: timestamp,
    lastVerifiedAt: timestamp,
    lastSignature: z
      .string()
      .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/)
      .meta({ description: 'Base64 signature' }),
  })
  .meta({ id: 'Signer' });

export const statusResponse = z
  .strictObject({
    schemaVersion: z.literal(1),
    installationId,
    revision: text.meta({ description: 'Opaque; does not change with generatedAt alone' }),
    generatedAt: timestamp,
    measurement: measurement.nullable(),
    builder,
    oracle,
    settlementQueue,
    signer: signer.nullable(),
    modules: z.array(moduleSnapshot),
  })
  .meta({ id: 'Status', description: 'Pipeline status' });

export type StatusResponse = z.infer<typeof statusResponse>;

export function statusBody(view: ProcessView): StatusResponse {
  return {
    schemaVersion: 1,
    installationId: view.installationId,
    revision: view.revision,
    generatedAt: isoOf(view.generatedAtMs),
    measurement: view.measurement === null ? null : measurementBody(view.measurement),
    builder: builderBody(view.builder),
    oracle: oracleBody(view.oracle),
    settlementQueue: queueBody(view.settlementQueue),
    signer: signerBody(view.signer),
    modules: view.modules.modules.map(moduleBody),
  };
}

/** Changes with the revision, the modules and the signer, all that the revision does not tell (document 2, B2). */
export function statusTag({ revision, signer, modules }: StatusResponse): string {
  const beside = createHash('sha256')
    .update(JSON.stringify([signer, modules]))
    .digest('base64url');
  return `${revision}.${beside.slice(0, 22)}`;
}

function signerBody(view: ProcessView['signer']): StatusResponse['signer'] {
  if (view === null) return null;
  const { enrolledAtMs, lastVerifiedAtMs, ...rest } = view;
  return { ...rest, enrolledAt: isoOf(enrolledAtMs), lastVerifiedAt: isoOf(lastVerifiedAtMs) };
}
