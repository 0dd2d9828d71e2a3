import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { bindToParent } from '../deploy/local/bindToParent.ts';
import { createStopper } from './serverChild.ts';
import { minerProgram } from './serviceProcess.ts';

const filledText = 'the simulated chain has reached the present; it continues in real time';
const limitMs = 120_000;

/** A service on this machine with a wheel and an economy of the past days, as `npm start` runs it. */
export interface FilledService {
  /** Variables for another service on the same deployment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of its node, which adds a block at times. */
  readonly rpcUrl: string;
  stop(): Promise<void>;
}

/**
 * @param pastDays of the simulated past.
 * @throws Error when the past is not there within two minutes.
 */
export async function startFilled(dir: string, pastDays = 1): Promise<FilledService> {
  const child = spawn(
    ...bindToParent(process.execPath, [minerProgram, 'local', '--past-days', String(pastDays)]),
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        MINER_DATA_DIR: dir,
        MINER_HTTP_PORT: '0',
        MINER_OPS_PORT: '0',
      },
    },
  );
  const stop = createStopper(child);
  try {
    const rpcUrl = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the past is not there in time')), limitMs);
      let url = '';
      createInterface({ input: child.stderr })
        .on('line', (line) => {
          if (line.includes('"anvil started"')) url = (JSON.parse(line) as { url: string }).url;
          if (!line.includes(filledText)) return;
          clearTimeout(timer);
          resolve(url);
        })
        .on('close', () => reject(new Error('the local service ended before its past was there')));
    });
    // Without a node the chain stands still, and has to be shown nevertheless.
    const environment = {
      MINER_DEPLOYMENT: `${dir}/deployment.json`,
      MINER_CHAIN_STALE_SECONDS: '86400',
      MINER_CHAIN_BEHIND_SECONDS: '86400',
    };
    return { environment, rpcUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Fills a data folder, so that a service on it has every part of every view. */
export async function fillData(dir: string): Promise<FilledService['environment']> {
  const filled = await startFilled(dir);
  await filled.stop();
  return filled.environment;
}
