import type { Plan } from '../plan/plan.ts';
import clockPutBack from './clockPutBack.json' with { type: 'json' };
import earlyRows from './earlyRows.json' with { type: 'json' };
import fullDisks from './fullDisks.json' with { type: 'json' };
import lostEnd from './lostEnd.json' with { type: 'json' };
import lostHistory from './lostHistory.json' with { type: 'json' };
import purgedEnd from './purgedEnd.json' with { type: 'json' };
import purgedRows from './purgedRows.json' with { type: 'json' };
import returnedBlock from './returnedBlock.json' with { type: 'json' };
import suspendedMachines from './suspendedMachines.json' with { type: 'json' };
import unfinishedRows from './unfinishedRows.json' with { type: 'json' };

interface KeptPlan {
  /** The fault that it found. */
  readonly reason: string;
  readonly plan: Plan;
}

/** Plans that have found something. Draws of seeds may change; these plans do not. */
// JSON has no literal types.
export const keptPlans = [
  fullDisks,
  clockPutBack,
  lostEnd,
  lostHistory,
  purgedEnd,
  purgedRows,
  earlyRows,
  returnedBlock,
  unfinishedRows,
  suspendedMachines,
] as readonly KeptPlan[];
