import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { uwsPackage } from '../http/server/engine/uws.ts';
import { fillData } from './filledData.ts';
import { type PreparedAnswer, readPaths } from './peers/preparedAnswers.ts';
import { startBare, startNginx } from './peers/startPeer.ts';
import { measureCases, pollingCases, requestCase } from './pollingCases.ts';
import { type PartialRun, publishResults } from './results.ts';
import { serverPath } from './servers.ts';
import { startServiceProcess } from './serviceProcess.ts';
import { withVersion } from './versions.ts';
import { inWorkspace } from './workspace.ts';
import { readWrkVersion, serverCore } from './wrk.ts';

interface PollingOptions extends PartialRun {
  readonly rounds: number;
}

/** Measures requests per second of polling clients, from the service and from peers that send the same bytes. */
export async function measurePolling({ rounds, ...partial }: PollingOptions): Promise<void> {
  const { only = '', profile } = partial;
  const cases = pollingCases.filter(({ title }) => title.includes(only));
  if (cases.length === 0) throw new Error(`no request has '${only}' in its name`);
  const tables = await inWorkspace(async ({ dir, onEnd }) => {
    const data = join(dir, 'data');
    const environment = await fillData(data);
    const service = await startServiceProcess({ dir: data, environment, core: serverCore, profile });
    onEnd(service.stop);
    await service.readyAfterMs();
    const file = join(dir, 'answers.json');
    writeFileSync(file, JSON.stringify(await collectAnswers(service.publicUrl)));
    const bare = await startBare(file);
    onEnd(bare.stop);
    const nginx = await startNginx(join(dir, 'nginx'), readPaths(file));
    onEnd(nginx.stop);
    const own = { name: 'the service', url: service.publicUrl, pid: service.pid };
    const limit = { ...bare, name: withVersion(uwsPackage, 'bare uWebSockets.js') };
    const files = { ...nginx, name: readNginxName() };
    return measureCases(cases, rounds, ({ hasNginx }) => [own, limit, ...(hasNginx ? [files] : [])]);
  });
  const about = `Load by ${await readWrkVersion()}, on another core.`;
  publishResults({ command: 'polling', about, tables }, partial);
}

async function collectAnswers(base: string): Promise<PreparedAnswer[]> {
  const answers: PreparedAnswer[] = [];
  for (const one of pollingCases) {
    const { path, encoding, isConditional } = one;
    const { answer } = await requestCase(base, one);
    answers.push({ path, encoding, ...answer, ...(isConditional && { body: null }) });
  }
  return answers;
}

function readNginxName(): string {
  const { stderr } = spawnSync('nginx', ['-v'], { encoding: 'utf8', env: { PATH: serverPath } });
  return `nginx ${/nginx\/([\d.]+)/.exec(stderr)?.[1]}, files`;
}
