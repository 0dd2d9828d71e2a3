import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverPath } from './childServer.ts';
import { fillData } from './filledData.ts';
import { type Contender, measureInterleaved } from './measureInterleaved.ts';
import { type PreparedAnswer, readPaths } from './peers/preparedAnswers.ts';
import { type Peer, startNginx, startNodePeer } from './peers/startPeer.ts';
import { publishResults, type ResultTable } from './results.ts';
import { startServiceProcess } from './serviceProcess.ts';
import { readThreadCpuNs } from './threadCpu.ts';
import { withVersion } from './versions.ts';
import { measureLoad, readWrkVersion, serverCore } from './wrk.ts';

/** One second of load, and at least five rounds, are enough, in the time that a developer waits. */
const secondsOfLoad = 1;

export interface PollingOptions {
  readonly rounds: number;
}

interface Case {
  readonly title: string;
  readonly path: string;
  readonly encoding: string;
  /** The client holds the answer already. */
  readonly isConditional: boolean;
  /** Those that send the same response, in addition to the bare handler. */
  readonly peers: readonly string[];
}

const cases: readonly Case[] = [
  buildCase('/v4/public/process', { peers: ['nginx', 'fastify', 'express'] }),
  buildCase('/v4/public/process', { isConditional: true, peers: ['nginx', 'fastify'] }),
  buildCase('/v1/status', {}),
  buildCase('/v2/public/stats?range=30d', { peers: ['nginx'] }),
  buildCase('/v2/public/stats?range=30d', { encoding: 'gzip', peers: ['nginx'] }),
  buildCase('/v2/public/stats?range=30d', { encoding: 'br', peers: [] }),
];

function buildCase(path: string, options: Partial<Case>): Case {
  const { encoding = 'identity', isConditional = false, peers = [] } = options;
  const title = `\`${path}\`, ${isConditional ? '304' : '200'}${encoding === 'identity' ? '' : `, ${encoding}`}`;
  return { title, path, encoding, isConditional, peers };
}

/** What polling clients get a second, from the service and from others that send the same bytes. */
export async function measurePolling({ rounds }: PollingOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  const stops: (() => Promise<void>)[] = [];
  try {
    const data = join(dir, 'data');
    const environment = await fillData(data);
    const service = await startServiceProcess({
      dir: data,
      installationId: '',
      environment,
      core: serverCore,
    });
    stops.push(service.stop);
    await service.readyAfterMs();
    const file = join(dir, 'answers.json');
    writeFileSync(file, JSON.stringify(await collectAnswers(service.publicUrl)));
    const peers = new Map<string, Peer>();
    for (const name of ['bare', 'fastify', 'express'] as const)
      peers.set(name, await startNodePeer(name, file, serverCore));
    peers.set('nginx', await startNginx(join(dir, 'nginx'), readPaths(file), serverCore));
    stops.push(...[...peers.values()].map((peer) => peer.stop));
    const names = peerNames();
    const tables: ResultTable[] = [];
    for (const one of cases) {
      const contenders = [
        await contender('the service', { url: service.publicUrl, pid: service.pid }, one),
        ...(await Promise.all(
          ['bare', ...one.peers].map((peer) =>
            contender(names[peer] as string, peers.get(peer) as Peer, one),
          ),
        )),
      ];
      process.stderr.write(`${one.title}\n`);
      const areWarm = tables.length > 0;
      const series = await measureInterleaved(contenders, rounds, { areWarm });
      tables.push({ title: one.title, unit: 'requests/s', series });
    }
    publishResults({
      command: 'polling',
      about: `Load by ${await readWrkVersion()}, on another core.`,
      tables,
    });
  } finally {
    for (const stop of stops) await stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @throws Error when a server answers something else than what is measured. */
async function contender(name: string, server: Pick<Peer, 'url' | 'pid'>, one: Case): Promise<Contender> {
  const url = `${server.url}${one.path}`;
  const encoding = one.encoding === 'identity' ? {} : { 'accept-encoding': one.encoding };
  const first = await prepareAnswer(url, encoding);
  const tag = first.headers.find(([header]) => header === 'etag')?.[1] ?? '';
  const headers = { ...encoding, ...(one.isConditional ? { 'if-none-match': tag } : {}) };
  const answer = await prepareAnswer(url, headers);
  const contentEncoding = answer.headers.find(([header]) => header === 'content-encoding')?.[1] ?? 'identity';
  if (
    answer.status !== (one.isConditional ? 304 : 200) ||
    (!one.isConditional && contentEncoding !== one.encoding)
  )
    throw new Error(`${name} answers ${url} with ${answer.status}, ${contentEncoding}`);
  return {
    name,
    measure: async () => {
      const beforeNs = readThreadCpuNs(server.pid);
      const { value, others } = await measureLoad({ url, headers, seconds: secondsOfLoad });
      const cpuMicros = (readThreadCpuNs(server.pid) - beforeNs) / 1_000 / (value * secondsOfLoad);
      return { value, others: { ...others, 'CPU µs/request': cpuMicros } };
    },
  };
}

async function collectAnswers(base: string): Promise<PreparedAnswer[]> {
  const answers: PreparedAnswer[] = [];
  for (const { path, encoding, isConditional } of cases) {
    const accepted = encoding === 'identity' ? {} : { 'accept-encoding': encoding };
    const response = await prepareAnswer(`${base}${path}`, accepted);
    if (!isConditional) {
      answers.push({ path, encoding, ...response });
      continue;
    }
    const tag = response.headers.find(([name]) => name === 'etag')?.[1] ?? '';
    const { status, headers } = await prepareAnswer(`${base}${path}`, { ...accepted, 'if-none-match': tag });
    answers.push({ path, encoding, status, headers, body: null });
  }
  return answers;
}

/** As it comes, without those headers that every server writes itself. */
function prepareAnswer(
  url: string,
  headers: Record<string, string>,
): Promise<Omit<PreparedAnswer, 'path' | 'encoding'>> {
  const own = ['date', 'content-length', 'connection', 'keep-alive', 'transfer-encoding', 'server'];
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const names = response.rawHeaders.filter((_, index) => index % 2 === 0);
        const pairs = names.map(
          (name, index) => [name.toLowerCase(), response.rawHeaders[index * 2 + 1] as string] as const,
        );
        resolve({
          status: response.statusCode ?? 0,
          headers: pairs.filter(([name]) => !own.includes(name)),
          body: Buffer.concat(chunks).toString('base64'),
        });
      });
    }).on('error', reject);
  });
}

/** With the versions that are installed. */
function peerNames(): Record<string, string> {
  const { stderr } = spawnSync('nginx', ['-v'], {
    encoding: 'utf8',
    env: { PATH: serverPath },
  });
  return {
    bare: withVersion('uWebSockets.js', 'bare uWebSockets.js'),
    nginx: `nginx ${/nginx\/([\d.]+)/.exec(stderr)?.[1]}, files`,
    fastify: withVersion('fastify', 'Fastify'),
    express: withVersion('express', 'Express'),
  };
}
