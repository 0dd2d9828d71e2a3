// Must come first: it keeps the real clock before it is replaced.
import './world/realTime.ts';
import { replaceGlobals } from './world/replaceGlobals.ts';

replaceGlobals();
// Must come after the replacement: loaded modules keep the clock that they find.
const { runCommandLine } = await import('./commandLine.ts');
await runCommandLine(JSON.parse(process.argv[2] ?? '{}'));
