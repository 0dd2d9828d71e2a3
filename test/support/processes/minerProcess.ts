import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { genesisMs } from '../genesis.ts';
import type { TestProcess } from './childProcess.ts';
import { eventually } from './lifetime.ts';
import { startMinerCommand } from './minerCommand.ts';

export interface MinerProcess extends TestProcess {
  readonly publicUrl: string;
  readonly operatorUrl: string;
  /** JSON of a public route. */
  json<Body>(path: string): Promise<Body>;
  /** Value of a metric by its printed name and labels; null if it is missing. */
  metric(name: string): Promise<number | null>;
  /** Lines of the log. */
  log(): Record<string, unknown>[];
}

interface MinerSettings {
  readonly role?: 'run' | 'ingest' | 'serve' | 'index';
  readonly natsUrl: string;
  readonly dataDir: string;
  readonly clickhouseUrl?: string;
  /** Release, chain and contracts of the deployment file. */
  readonly onChain?: object;
  /** Start of round 1 (epoch milliseconds), {@link genesisMs} if omitted. */
  readonly startMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Writes a deployment file, without a chain unless one is given. */
export function writeDeployment(dir: string, onChain: object = {}, startMs = genesisMs): string {
  const path = join(dir, 'deployment.json');
  const installation = {
    installationId: 'wheel.one',
    genesisTimestamp: startMs / 1000,
    streamId: `0x${'0'.repeat(64)}`,
  };
  writeFileSync(path, JSON.stringify({ ...installation, ...onChain }));
  return path;
}

/** Starts the built service as a separate process on free ports, as an operator would. */
export async function startMiner(settings: MinerSettings): Promise<MinerProcess> {
  const { role = 'run', natsUrl, dataDir, clickhouseUrl, onChain, startMs, environment = {} } = settings;
  const started = startMinerCommand([role], {
    MINER_HTTP_PORT: '0',
    MINER_OPS_PORT: '0',
    MINER_NATS_URL: natsUrl,
    MINER_DATA_DIR: dataDir,
    MINER_DEPLOYMENT: writeDeployment(dataDir, onChain, startMs),
    MINER_RATE_LIMITS: 'off',
    // The chains of tests begin at the genesis.
    MINER_CHAIN_BEHIND_SECONDS: '999999999',
    ...(clickhouseUrl === undefined ? {} : { MINER_CLICKHOUSE_URL: clickhouseUrl }),
    ...environment,
  });
  const log = () =>
    started
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await started.written('"msg":"listening"}');
  const listening = log().find(({ msg }) => msg === 'listening');
  const [publicUrl, operatorUrl] = [String(listening?.publicUrl), String(listening?.operatorUrl)];
  return {
    ...started,
    publicUrl,
    operatorUrl,
    json: async <Body>(path: string) => {
      const response = await ask(`${publicUrl}${path}`);
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Body;
    },
    metric: async (name) => {
      const text = await (await ask(`${operatorUrl}/metrics`)).text();
      const line = text.split('\n').find((one) => one.startsWith(`${name} `));
      return line === undefined ? null : Number(line.slice(name.length + 1));
    },
    log,
  };
}

/** Uses a new connection: on a slow machine, the server may close a reused one just when the request is sent. */
function ask(url: string): Promise<Response> {
  return fetch(url, { headers: { Connection: 'close' } });
}

/** Waits until the service is ready: its streams exist and what they hold is folded. */
export async function waitUntilReady(miner: MinerProcess) {
  await eventually(async () => {
    const response = await ask(`${miner.operatorUrl}/readyz`);
    if (!response.ok)
      throw new Error([await response.text(), ...miner.output().split('\n').slice(-6)].join('\n'));
    return true;
  }, 'readiness');
}

/** Members of the body of `/readyz` that tests read. */
interface ReadyBody {
  readonly status: 'ready' | 'waiting';
  readonly waitingFor: readonly string[];
  readonly clickhouse: string;
  readonly standbyFor?: { readonly pid: number };
  readonly lostStreams?: readonly {
    readonly stream: string;
    readonly folded: string;
    readonly found: string | null;
  }[];
  readonly streamRisks: readonly object[];
  readonly streams: Readonly<
    Record<string, { readonly position: number; readonly lag: number | null; readonly isCaughtUp: boolean }>
  >;
}

export async function fetchReadiness({ operatorUrl }: MinerProcess): Promise<ReadyBody> {
  return (await (await ask(`${operatorUrl}/readyz`)).json()) as ReadyBody;
}

/** Waits until the service has folded `stream` through `position`. Metrics cost the service ten times as much. */
export async function waitUntilFolded(miner: MinerProcess, position: number, stream = 'MINER_COUNTER') {
  await eventually(
    async () => (await fetchReadiness(miner)).streams[stream]?.position === position,
    `${stream} folded through ${position}`,
  );
}

/** Waits until everything through `position` is folded and stored in ClickHouse. */
export async function waitUntilStored(miner: MinerProcess, position: number) {
  await waitUntilFolded(miner, position);
  await eventually(
    async () =>
      ((await miner.metric('miner_rows_flushed_position{stream="MINER_COUNTER"}')) ?? 0) >= position,
    `rows stored through ${position}`,
  );
}
