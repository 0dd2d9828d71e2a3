import type { ModuleState } from '../../machines/moduleMachine.ts';
import type { ModuleReport } from './moduleSnapshot.ts';

export interface ModuleView extends ModuleReport {
  readonly state: ModuleState;
}

/** Module snapshots of one installation, ordered by instance ID. */
export interface ModulesView {
  readonly installationId: string;
  readonly modules: readonly ModuleView[];
}
