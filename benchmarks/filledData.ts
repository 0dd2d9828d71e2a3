import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { bindToParent, endProcess } from '../deploy/local/childServer.ts';
import { minerProgram } from './serviceProcess.ts';

const filledText = 'the simulated chain has reached the present; it continues in real time';
const limitMs = 120_000;
const stopMs = 30_000;

/**
 * Fills a data folder with one simulated day of a wheel and an economy, as `npm start` does, so that a service on it has every part of every view.
 *
 * @returns Variables for a service on the folder. The chain stands still, since no node runs.
 * @throws Error if the past is not complete within two minutes.
 */
export async function fillData(dir: string): Promise<Readonly<Record<string, string>>> {
  const child = spawn(...bindToParent(process.execPath, [minerProgram, 'local', '--past-days', '1']), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      MINER_DATA_DIR: dir,
      MINER_HTTP_PORT: '0',
      MINER_OPS_PORT: '0',
    },
  });
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the past is not there in time')), limitMs);
      createInterface({ input: child.stderr })
        .on('line', (line) => {
          if (!line.includes(filledText)) return;
          clearTimeout(timer);
          resolve();
        })
        .on('close', () => reject(new Error('the local service ended before its past was there')));
    });
  } finally {
    await endProcess(child, stopMs);
  }
  return {
    MINER_DEPLOYMENT: `${dir}/deployment.json`,
    MINER_CHAIN_STALE_SECONDS: '86400',
    MINER_CHAIN_BEHIND_SECONDS: '86400',
  };
}
