import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillData } from './filledData.ts';
import { measureInterleaved } from './measureInterleaved.ts';
import { type PreparedAnswer, readPaths } from './peers/preparedAnswers.ts';
import { startBare, startNginx } from './peers/startPeer.ts';
import { buildContender, type PollingCase, pollingCases, prepareAnswer } from './pollingCases.ts';
import { type ProfileOptions, publishUnlessProfiled } from './profiles.ts';
import { printResults, type ResultTable } from './results.ts';
import { serverPath } from './serverChild.ts';
import { startServiceProcess } from './serviceProcess.ts';
import { withVersion } from './versions.ts';
import { readWrkVersion, serverCore } from './wrk.ts';

interface PollingOptions extends ProfileOptions {
  readonly rounds: number;
  /** Only requests with this in their title. */
  readonly only?: string;
}

/** What polling clients get a second, from the service and from others that send the same bytes. */
export async function measurePolling({ rounds, only = '', profile = null }: PollingOptions): Promise<void> {
  const cases = pollingCases.filter(({ title }) => title.includes(only));
  if (cases.length === 0) throw new Error(`no request has '${only}' in its name`);
  const tables = await measureCases(cases, rounds, profile);
  // The service has written its profile, since it is stopped.
  const about = `Load by ${await readWrkVersion()}, on another core.`;
  const results = { command: 'polling', about, tables };
  if (only === '') publishUnlessProfiled(profile, results);
  else printResults(results);
}

async function measureCases(
  cases: readonly PollingCase[],
  rounds: number,
  profile: string | null,
): Promise<ResultTable[]> {
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
      profile,
    });
    stops.push(service.stop);
    await service.readyAfterMs();
    const file = join(dir, 'answers.json');
    writeFileSync(file, JSON.stringify(await collectAnswers(service.publicUrl)));
    const bare = await startBare(file, serverCore);
    stops.push(bare.stop);
    const nginx = await startNginx(join(dir, 'nginx'), readPaths(file), serverCore);
    stops.push(nginx.stop);
    const nginxName = readNginxName();
    const tables: ResultTable[] = [];
    for (const one of cases) {
      const contenders = [
        await buildContender('the service', { url: service.publicUrl, pid: service.pid }, one),
        await buildContender(withVersion('uWebSockets.js', 'bare uWebSockets.js'), bare, one),
        ...(one.hasNginx ? [await buildContender(nginxName, nginx, one)] : []),
      ];
      process.stderr.write(`${one.title}\n`);
      const areWarm = tables.length > 0;
      const series = await measureInterleaved(contenders, rounds, { areWarm });
      tables.push({ title: one.title, unit: 'requests/s', series });
    }
    return tables;
  } finally {
    for (const stop of stops) await stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function collectAnswers(base: string): Promise<PreparedAnswer[]> {
  const answers: PreparedAnswer[] = [];
  for (const { path, encoding, isConditional } of pollingCases) {
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

function readNginxName(): string {
  const { stderr } = spawnSync('nginx', ['-v'], { encoding: 'utf8', env: { PATH: serverPath } });
  return `nginx ${/nginx\/([\d.]+)/.exec(stderr)?.[1]}, files`;
}
