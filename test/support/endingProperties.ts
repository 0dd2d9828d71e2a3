import fc from 'fast-check';
import { runs } from './propertyRuns.ts';

// A failing example is shortened no longer than this. A property that holds takes a fraction of it.
fc.configureGlobal({ interruptAfterTimeLimit: runs(60_000) });
