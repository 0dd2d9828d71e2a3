import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bindToParent, endProcess } from '../deploy/local/childServer.ts';
import { createProgress } from '../deploy/process/progress.ts';
import { pollUntil } from '../storage/reading/awaitRows.ts';
import { pinToCore } from './pinToCore.ts';
import { readCpuMs } from './processCpu.ts';
import { genesisMs, installationId } from './readingLoad.ts';

/** Metric with the position through which the counter stream is stored. */
export const storedPosition = 'miner_rows_flushed_position{stream="MINER_COUNTER"}';

/** The built command line of another version, which is measured under this version's load; undefined for this version. */
export const { BENCH_PROGRAM: otherProgram } = process.env;
export const minerProgram = otherProgram ?? fileURLToPath(new URL('../deploy/miner.js', import.meta.url));
const startLimitMs = 60_000;
const stopLimitMs = 30_000;
const readyPollMs = 5;
const foldPollMs = 250;

export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>;

interface ServiceProcessSettings {
  /** Its data folder; the next process on it continues with the data. */
  readonly dir: string;
  /** `run` by default. */
  readonly command?: 'run' | 'local';
  /** Options of node; none by default. */
  readonly nodeOptions?: readonly string[];
  /** Further variables, which replace the benchmark's own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The core it is pinned to; any by default. */
  readonly core?: number;
  /** Folder of its CPU profile, written when it stops; none by default. */
  readonly profile?: string | undefined;
}

/** Arguments of node that write a CPU profile into a folder when the process ends; none without a folder. */
export function profilerArguments(folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`];
}

function writeDeploymentFile(dir: string): string {
  const path = join(dir, 'deployment.json');
  const genesisTimestamp = genesisMs / 1_000;
  writeFileSync(path, JSON.stringify({ installationId, genesisTimestamp, streamId: `0x${'0'.repeat(64)}` }));
  return path;
}

/**
 * Starts the service as an operator does, with its own nats-server and embedded ClickHouse.
 *
 * @throws Error with the service's output if it does not start within a minute.
 */
export async function startServiceProcess(settings: ServiceProcessSettings) {
  const { dir, command = 'run', nodeOptions = [], environment = {}, core, profile } = settings;
  const startedMs = performance.now();
  const options = [...nodeOptions, ...profilerArguments(profile)];
  const [executable, ...args] = pinToCore(core, [process.execPath, ...options, minerProgram, command]);
  const child = spawn(...bindToParent(executable, args), {
    stdio: ['ignore', command === 'run' ? 'inherit' : 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      MINER_HTTP_PORT: '0',
      MINER_OPS_PORT: '0',
      MINER_DATA_DIR: dir,
      // `local` has a deployment of its own.
      ...(command === 'run' && {
        MINER_DEPLOYMENT: environment.MINER_DEPLOYMENT ?? writeDeploymentFile(dir),
      }),
      MINER_RATE_LIMITS: 'off',
      ...environment,
    },
  });
  const stop = () => endProcess(child, stopLimitMs);
  try {
    const { natsUrl, publicUrl, operatorUrl } = await readAddresses(child.stderr, dir);
    const metric = async (name: string) => {
      const text = await (await fetch(`${operatorUrl}/metrics`)).text();
      const line = text.split('\n').find((one) => one.startsWith(`${name} `));
      return line === undefined ? null : Number(line.slice(name.length + 1));
    };
    return {
      pid: child.pid as number,
      natsUrl,
      publicUrl,
      operatorUrl,
      /** Value of a metric by its printed name and labels; null if it is absent. */
      metric,
      /** Waits until it is ready. Returns the milliseconds since its start. */
      readyAfterMs: async () => {
        await pollUntil(async () => (await fetch(`${operatorUrl}/readyz`)).ok, { everyMs: readyPollMs });
        return performance.now() - startedMs;
      },
      /** Waits until it has folded and stored the counter stream through a position, and shows how far it is. */
      foldedThrough: async (position: number) => {
        const progress = createProgress({ label: 'folding', unit: 'readings', total: position });
        const isFolded = async () => {
          const stored = (await metric(storedPosition)) ?? 0;
          progress.update(stored);
          return stored >= position;
        };
        await pollUntil(isFolded, { everyMs: foldPollMs });
        progress.stop();
      },
      /** Waits until a condition holds. Returns the seconds since its start. */
      secondsUntil: async (isMet: () => Promise<boolean>) => {
        await pollUntil(isMet, { everyMs: foldPollMs });
        return (performance.now() - startedMs) / 1_000;
      },
      cpuMs: () => readCpuMs(child.pid as number),
      residentBytes: () => readMemory(child.pid as number, 'VmRSS'),
      /** The most that it has had at any moment. */
      peakBytes: () => readMemory(child.pid as number, 'VmHWM'),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads the log until the service has logged its addresses. */
async function readAddresses(log: NodeJS.ReadableStream, dir: string) {
  const addresses: { natsUrl?: string; publicUrl?: string; operatorUrl?: string } = {};
  const lines: string[] = [];
  return await new Promise<Required<typeof addresses>>((resolve, reject) => {
    const fail = () => reject(new Error(`the service does not start:\n${lines.join('\n')}`));
    const timer = setTimeout(fail, startLimitMs);
    createInterface({ input: log })
      .on('line', (line) => {
        const entry = line.startsWith('{') ? (JSON.parse(line) as Record<string, string>) : {};
        if (addresses.operatorUrl === undefined) lines.push(line);
        if (entry.msg === 'nats-server started')
          addresses.natsUrl = readFileSync(join(dir, 'nats', 'url'), 'utf8').trim();
        if (entry.msg !== 'listening') return;
        clearTimeout(timer);
        const { publicUrl = '', operatorUrl = '' } = entry;
        resolve({ natsUrl: addresses.natsUrl ?? '', publicUrl, operatorUrl });
      })
      .on('close', fail);
  });
}

/** @throws Error if the system does not show it (only Linux does). */
function readMemory(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
}
