import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../test/support/processes/findFreePort.mjs';
import { fillData } from './filledData.ts';
import { pinToCore } from './pinToCore.ts';
import { measureCases, type PreparedAnswer, pollingCases, requestCase } from './pollingCases.ts';
import { type PartialRun, publishResults } from './results.ts';
import { type Server, startServer } from './servers.ts';
import { startServiceProcess } from './serviceProcess.ts';
import { inWorkspace } from './workspace.ts';
import { readWrkVersion, serverCore } from './wrk.ts';

interface PollingOptions extends PartialRun {
  readonly rounds: number;
}

/** Measures requests per second of polling clients, from the service and from a bare handler that sends the same bytes. */
export async function measurePolling({ rounds, ...partial }: PollingOptions): Promise<void> {
  const { only = '', profile } = partial;
  const cases = pollingCases.filter(({ title }) => title.includes(only));
  if (cases.length === 0) throw new Error(`no request has '${only}' in its name`);
  const about = `Load by ${await readWrkVersion()}, on another core.`;
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
    const own = { name: 'the service', url: service.publicUrl, pid: service.pid };
    return measureCases(cases, rounds, [own, { ...bare, name: 'bare uWebSockets.js' }]);
  });
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

async function startBare(answersFile: string): Promise<Server> {
  const program = fileURLToPath(new URL('./bareServer.js', import.meta.url));
  const port = String(await findFreePort());
  const command = pinToCore(serverCore, [process.execPath, program, answersFile, port]);
  return startServer(command, `http://127.0.0.1:${port}/v1/status`);
}
