import type { AcceptedReading } from '../../actors/wheel/acceptedReading.ts';
import { coreStatuses, provenances } from '../../actors/wheel/counterReading.ts';
import { decimal, integer, nullableString, oneOf, string } from './column.ts';
import { defineTable } from './table.ts';

/** Accepted readings; each generation has a table of them. */
export const readings = defineTable<AcceptedReading>({
  name: 'readings',
  columns: {
    installationId: string,
    position: integer,
    telemetryId: string,
    bootId: string,
    sequence: integer,
    observedAtMs: integer,
    receivedAtMs: integer,
    counterEpoch: string,
    cumulativeWorkUnits: decimal,
    provenance: oneOf(provenances),
    softwareVersion: nullableString,
    coreStatus: oneOf(coreStatuses),
    rpmMilli: integer,
    speedMmPerSecond: integer,
    distanceMm: integer,
  },
  engine: 'ReplacingMergeTree(position)',
  partitionBy: { time: 'observedAtMs' },
  orderBy: ['installationId', 'position'],
});
