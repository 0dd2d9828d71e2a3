// First of all: what really passes time is kept before it is replaced.
import './world/realTime.ts';
import { replaceGlobals } from './world/replaceGlobals.ts';

replaceGlobals();
// Only now: what is loaded reads the clock, and keeps what it finds.
const { runCommandLine } = await import('./commandLine.ts');
await runCommandLine(process.argv.slice(2));
