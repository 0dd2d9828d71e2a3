import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bindToParent, endProcess } from '../deploy/local/childServer.ts';
import type { LiveTask } from './liveLoad.ts';

const loadProgram = fileURLToPath(new URL('./liveLoad.js', import.meta.url));
const stopMs = 5_000;

/**
 * Starts wheels and clients in a process of their own.
 *
 * @throws Error if its clients cannot connect.
 */
export async function startLoad(task: LiveTask) {
  const command = bindToParent(process.execPath, [loadProgram, JSON.stringify(task)]);
  const child = spawn(...command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const hasEnded = () => child.exitCode !== null;
  const ended = once(child, 'exit').then(() => {
    throw new Error('the load ended before its clients were connected');
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => undefined);
  return { stop: () => endProcess(child, stopMs), hasEnded };
}
