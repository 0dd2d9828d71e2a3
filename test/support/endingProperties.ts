import fc from 'fast-check';
import { runs } from './propertyRuns.ts';

// Limits the time for shrinking a failing example. A property that holds takes a fraction of it.
fc.configureGlobal({ interruptAfterTimeLimit: runs(60_000) });
