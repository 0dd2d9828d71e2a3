import type { Actor } from 'xstate';
import type { DatabaseReach, ServiceMachine } from '../../machines/serviceMachine.ts';
import type { IngestOptions } from '../../streams/ingest/ingest.ts';
import type { StreamWork } from '../../streams/work/streamWork.ts';

export type ServiceRoot = Actor<ServiceMachine<StreamWork>>;

/** The process at this moment. */
export interface ProcessState {
  /** Null until the tables are known. */
  work(): StreamWork | null;
  isNatsConnected(): boolean;
  database(): DatabaseReach;
  isLeaving(): boolean;
  ingest: IngestOptions['actor'];
}

/** Reads the snapshot of the root, which is the only record of what the process does. */
export function createProcessState(root: () => ServiceRoot): ProcessState {
  const child = () => root().getSnapshot().children;
  return {
    work: () => root().getSnapshot().context.work,
    isNatsConnected: () => root().getSnapshot().context.isNatsConnected,
    database: () =>
      child().databaseWatch?.getSnapshot().context ?? { isReachable: false, isWithinGrace: false },
    isLeaving: () => {
      const snapshot = root().getSnapshot();
      return snapshot.hasTag('leaving') || snapshot.status !== 'active';
    },
    ingest: () => child().ingest,
  };
}
