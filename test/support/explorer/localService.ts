import { readFileSync } from 'node:fs';
import { findFreePort } from '../processes/findFreePort.mjs';
import { eventually, temporaryDirectory, whenFinished } from '../processes/lifetime.ts';
import { startMinerCommand } from '../processes/minerCommand.ts';

interface LocalService {
  readonly url: string;
  /** URL with the token. */
  readonly natsUrl: string;
  /** Reads the body of a route. It repeats a request after `Retry-After`, since the service sheds requests on a busy machine. */
  json<Body>(path: string): Promise<Body>;
}

/** Empty for a process that has ended, even if its parent has not collected its status. */
export function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Starts what `npm start` runs, on free ports. */
export function startLocal(dataDir: string, args: readonly string[], environment: Record<string, string>) {
  const started = startMinerCommand(['local', ...args], {
    MINER_DATA_DIR: dataDir,
    MINER_HTTP_PORT: '0',
    MINER_OPS_PORT: '0',
    ...environment,
  });
  // Its servers end with it. If it was killed, they wait for the next start, which may not come.
  whenFinished(async () => {
    await started.end('SIGTERM');
    for (const [, pid] of started.output().matchAll(/"pid":(\d+)[^\n]*started/g))
      if (readCommandLine(Number(pid)).includes(dataDir)) process.kill(Number(pid), 'SIGKILL');
  });
  /** What it prints where the pattern has its group. */
  const find = (pattern: RegExp, what: string) => eventually(() => pattern.exec(started.output())?.[1], what);
  return { ...started, find };
}

/**
 * Starts it, and waits until the simulated chain has reached the present.
 *
 * @param pastDays length of the simulated past; a day contains everything that tests need.
 */
export async function startLocalService(
  environment: Record<string, string> = {},
  pastDays = 1.2,
): Promise<LocalService> {
  const past = ['--past-days', String(pastDays), '--past-interval', '60'];
  // The pages name their own address, which a port that the system chooses is not part of.
  const ports = { MINER_HTTP_PORT: String(await findFreePort()) };
  const { find } = startLocal(temporaryDirectory(), past, { ...ports, ...environment });
  const url = await find(/Read Service\s+(http\S+)\//, 'the address');
  const urlFile = await find(/NATS .*token in (\S+)/, 'the address of NATS');
  await find(/(the simulated chain has reached the present)/, 'the present');
  await eventually(
    async () => (await readBody<{ status: string }>(`${url}/v1/core`)).status === 'available',
    'the present of the chain, folded',
  );
  return {
    url,
    natsUrl: readFileSync(urlFile, 'utf8').trim(),
    json: (path) => eventually(() => readBody(`${url}${path}`), `an answer to ${path}`),
  };
}

/** @throws Error if the response has no success status. */
async function readBody<Body>(url: string): Promise<Body> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
  return (await response.json()) as Body;
}
