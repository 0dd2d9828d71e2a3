import { describe, expect, it } from 'vitest';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { machines } from './machineDiagrams.ts';

/** Work, actions, guards and delays without an implementation. */
function listMissing({ implementations: { actors, actions, guards, delays } }: AnyStateMachine): string {
  const works = Object.entries(actors).map(([name, logic]) => [name, (logic as { config?: unknown }).config]);
  const missing = [...works, ...Object.entries({ ...actions, ...guards, ...delays })].filter(([, work]) => {
    try {
      (work as (...args: object[]) => unknown)({}, {});
      return false;
    } catch (error) {
      return /^Error: an implementation .* is not provided$/.test(String(error));
    }
  });
  return missing.map(([name]) => name).join(' ');
}

/** States with a routine inside. */
function listRoutine({ states, meta, path }: AnyStateNode): string {
  const own = meta?.isRoutineInside === true ? [path.join('.')] : [];
  return [...own, ...Object.values(states).map(listRoutine)].filter((one) => one !== '').join(' ');
}

describe('every machine', () => {
  it('names the implementations it needs, and its states with routine work inside', () => {
    const described = machines.map((machine) => [
      machine.id,
      listMissing(machine),
      listRoutine(machine.root),
    ]);
    expect(described.map((parts) => parts.join(' | '))).toEqual([
      'module |  | ',
      'settlement |  | ',
      'service | operatorServer publicServer nats databaseWatch watchConditions compose group upkeep closeNats closeDatabase | ',
      'ingest | checkStored identify ensureStreams migrate beginEpoch prepareRows checkEpoch reportFailure reportGrant | leasing.ingesting',
      'lease | observe replace verify recreate reportFailure reportStandby reportTaken reportRenewalFailure | contending standby held',
      'indexer | askNode resume publishReads compare publishRanges publishBlocks proveBranch awaitIdle awaitReconnection noteStarted | ',
      'messageSource | verify consume recreate noteInterruption report | ',
      'streamFollower | restore pipeline awaitIdle noteStarted noteRestoreFailure noteFault noteCaughtUp endSource | ',
    ]);
  });
});
