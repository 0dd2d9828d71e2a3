import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bindToParent } from '../deploy/local/bindToParent.ts';
import { pollUntil } from '../storage/pollUntil.ts';
import { pinToCore } from './pinToCore.ts';
import { profilerArguments } from './profiles.ts';
import { genesisMs } from './readingLoad.ts';
import { createStopper } from './serverChild.ts';

/** Metric: through which message of the counter stream everything is stored. */
export const storedPosition = 'miner_rows_flushed_position{stream="MINER_COUNTER"}';

/** The built command line. */
export const minerProgram = fileURLToPath(new URL('../deploy/miner.js', import.meta.url));
const startLimitMs = 60_000;
const readyPollMs = 5;

/** The service as an operator starts it, with a nats-server and an embedded ClickHouse of its own. */
export interface ServiceProcess {
  readonly pid: number;
  readonly natsUrl: string;
  readonly publicUrl: string;
  readonly operatorUrl: string;
  /** Value of a metric by its name and labels as they are printed; null where it is not. */
  metric(name: string): Promise<number | null>;
  /** Resident set of the process now, and at its largest so far, in bytes. */
  residentBytes(): { readonly now: number; readonly peak: number };
  /** CPU time of the process so far. */
  cpuMs(): number;
  /** Waits until it is ready; milliseconds since it was started. */
  readyAfterMs(): Promise<number>;
  /** Stops it; its data stay. */
  stop(): Promise<void>;
}

interface ServiceProcessSettings {
  /** Where its data are stored; the next process on it continues with them. */
  readonly dir: string;
  /** The built command line of another version; that of this one by default. */
  readonly program?: string;
  /** Subcommand of the command line; `run` by default. */
  readonly command?: 'run' | 'ingest' | 'serve';
  /** Further variables, instead of those that a benchmark sets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The core that it is pinned to; any by default. */
  readonly core?: number;
  /** Where it writes its CPU profile when it stops; null for none, which is the default. */
  readonly profile?: string | null;
  /** The public one. */
  readonly installationId: string;
  /** Start of round 1 (epoch milliseconds), a multiple of half an hour. */
  readonly startMs?: number;
}

/** Writes the deployment file of a benchmark, without contracts. */
function writeDeploymentFile(dir: string, installationId: string, startMs = genesisMs): string {
  const path = join(dir, 'deployment.json');
  const genesisTimestamp = startMs / 1_000;
  writeFileSync(path, JSON.stringify({ installationId, genesisTimestamp, streamId: `0x${'0'.repeat(64)}` }));
  return path;
}

/** @throws Error with what the service wrote, when it does not start within a minute. */
export async function startServiceProcess({
  dir,
  installationId,
  startMs,
  program = minerProgram,
  command = 'run',
  environment = {},
  core,
  profile = null,
}: ServiceProcessSettings): Promise<ServiceProcess> {
  const startedMs = performance.now();
  const [executable, ...args] = pinToCore(core, [
    process.execPath,
    ...profilerArguments(profile),
    program,
    command,
  ]);
  const child = spawn(...bindToParent(executable, args), {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      MINER_HTTP_PORT: '0',
      MINER_OPS_PORT: '0',
      MINER_DATA_DIR: dir,
      MINER_DEPLOYMENT: environment.MINER_DEPLOYMENT ?? writeDeploymentFile(dir, installationId, startMs),
      MINER_RATE_LIMITS: 'off',
      ...environment,
    },
  });
  const stop = createStopper(child);
  try {
    const { natsUrl, publicUrl, operatorUrl } = await readAddresses(child.stderr, dir);
    return {
      pid: child.pid as number,
      natsUrl,
      publicUrl,
      operatorUrl,
      metric: async (name) => {
        const text = await (await fetch(`${operatorUrl}/metrics`)).text();
        const line = text.split('\n').find((one) => one.startsWith(`${name} `));
        return line === undefined ? null : Number(line.slice(name.length + 1));
      },
      readyAfterMs: async () => {
        await pollUntil(async () => (await fetch(`${operatorUrl}/readyz`)).ok, { everyMs: readyPollMs });
        return performance.now() - startedMs;
      },
      cpuMs: () => readCpuMs(child.pid as number),
      residentBytes: () => readResidentBytes(child.pid as number),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads the log until the service has logged where its parts listen. */
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

/** User's and system's, from ticks of ten milliseconds. */
function readCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** @throws Error where the system does not show it (only Linux does). */
function readResidentBytes(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { now: kibibytes('VmRSS') * 1024, peak: kibibytes('VmHWM') * 1024 };
}
