import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { minerProgram } from './serviceProcess.ts';

const filledLine = 'the simulated chain has reached the present; it goes on in real time';
const limitMs = 120_000;

/**
 * Fills a data folder as `npm start` does: a wheel and an economy of the past day, folded. What is started on it next has every
 * part of every view.
 *
 * @returns variables for a service on it.
 * @throws Error when it takes longer than two minutes.
 */
export async function fillData(dir: string): Promise<Record<string, string>> {
  const child = spawn(process.execPath, [minerProgram, 'local', '--past-days', '1'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      MINER_DATA_DIR: dir,
      MINER_HTTP_PORT: '0',
      MINER_OPS_PORT: '0',
    },
  });
  const exited = once(child, 'exit');
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the data folder is not filled in time')), limitMs);
      createInterface({ input: child.stderr })
        .on('line', (line) => {
          if (!line.includes(filledLine)) return;
          clearTimeout(timer);
          resolve();
        })
        .on('close', () => reject(new Error('the local service ended before its data folder was filled')));
    });
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
  // The chain stands still from here on, and is to be shown all the same.
  return { MINER_DEPLOYMENT: `${dir}/deployment.json`, MINER_CHAIN_STALE_SECONDS: '86400' };
}
