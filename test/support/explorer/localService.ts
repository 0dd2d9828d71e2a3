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

/**
 * Starts what `npm start` runs, and waits until the simulated chain has reached the present.
 *
 * @param pastDays length of the simulated past; a day contains everything that tests need.
 */
export async function startLocalService(
  environment: Record<string, string> = {},
  pastDays = 1.2,
): Promise<LocalService> {
  const dataDir = temporaryDirectory();
  const past = ['--past-days', String(pastDays), '--past-interval', '60'];
  const started = startMinerCommand(['local', ...past], {
    MINER_DATA_DIR: dataDir,
    // The pages name their own address, which a port that the system chooses is not part of.
    MINER_HTTP_PORT: String(await findFreePort()),
    MINER_OPS_PORT: '0',
    ...environment,
  });
  const findPid = (name: string) =>
    Number(new RegExp(`"pid":(\\d+)[^\\n]*"${name} started"`).exec(started.output())?.[1]);
  // Its servers end with it. If it had to be killed, they are ended here.
  whenFinished(async () => {
    await started.end('SIGTERM');
    for (const name of ['nats-server', 'anvil'])
      if (isOurs(findPid(name), dataDir)) process.kill(findPid(name), 'SIGKILL');
  });
  const find = (pattern: RegExp, what: string) => eventually(() => pattern.exec(started.output())?.[1], what);
  const url = (await find(/Read Service\s+(http\S+)\//, 'the address')) as string;
  const urlFile = (await find(/NATS .*token in (\S+)/, 'the address of NATS')) as string;
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

function isOurs(pid: number, dataDir: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dataDir);
  } catch {
    return false; // It has ended.
  }
}
