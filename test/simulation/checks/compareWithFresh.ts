import type { Deployment } from '../../../deploy/deploymentFile.ts';
import type { SimulatedClickHouse } from '../clickhouse/clickHouseServer.ts';
import { type ServiceProcess, startServiceProcess } from '../processes/serviceProcess.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** A process is ready by then that folds everything in fair weather. */
const readyMs = 60_000;
/** What is shown for some time, and depends on when it was computed, is the same again by then. */
const agreementMs = 40_000;
const againMs = 2_000;
const pagesMax = 400;
/** What a replica of an earlier version may say of rows: its tables are not written any more (`deploy/RUNBOOK.md`, Upgrade). */
const withoutRows = '503 {"error":"database_unavailable"}';

interface FreshComparison {
  readonly world: SimulatedWorld;
  readonly deployment: Deployment;
  readonly paths: readonly string[];
  /** Lists that are read page by page. */
  readonly lists: readonly string[];
  /** What the process without faults has stored. */
  readonly check: (stored: SimulatedClickHouse) => void;
}

/** All processes answer what one answers that has met with no fault, and has folded the streams as they are into an empty database. */
export async function compareWithFresh(
  processes: readonly ServiceProcess[],
  { world, deployment, paths, lists, check }: FreshComparison,
): Promise<void> {
  const fresh = await startServiceProcess({ world, name: 'fresh', deployment, isolation: 'database' });
  const endMs = world.time.nowMs() + readyMs;
  while (!world.time.within(fresh.domain, () => fresh.service.readiness().isReady)) {
    if (world.time.nowMs() > endMs) throw new SimulationFailure('fresh process', 'it is not ready');
    await world.sleep(250);
  }
  for (const process of processes) {
    for (const path of paths) await agree(path, (from) => readBody(from, path), process);
    const isOutdated = process.domain.version < fresh.domain.version;
    for (const path of lists)
      await agree(path, (from) => readPages(from, path), process, isOutdated ? withoutRows : null);
  }
  if (fresh.own !== null) check(fresh.own.database);
  fresh.kill();

  async function agree(
    path: string,
    read: (from: ServiceProcess) => Promise<string>,
    process: ServiceProcess,
    alsoAllowed: string | null = null,
  ) {
    const untilMs = world.time.nowMs() + agreementMs;
    for (;;) {
      const [found, expected] = [await read(process), await read(fresh)];
      if (found === expected || found === alsoAllowed) return;
      if (world.time.nowMs() > untilMs)
        throw new SimulationFailure('answers', `${process.name} ${path}: ${showDifference(found, expected)}`);
      await world.sleep(againMs);
    }
  }
}

/** Without the times at which they were computed; the revision of statistics names one too. */
async function readBody(from: ServiceProcess, path: string): Promise<string> {
  const response = await from.get(path);
  if (response === null) return 'no answer';
  const computed = path.includes('/stats')
    ? /"(?:generatedAt|endAt|revision)":"[^"]*"/g
    : /"generatedAt":"[^"]*"/g;
  const text = response.body.toString('utf8').replace(computed, '');
  return `${response.status} ${text}`;
}

interface Page {
  readonly items?: readonly unknown[];
  readonly events?: readonly unknown[];
  readonly nextCursor?: string | null;
}

async function readPages(from: ServiceProcess, path: string): Promise<string> {
  const items: unknown[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pagesMax; page++) {
    const separator = path.includes('?') ? '&' : '?';
    const response = await from.get(cursor === null ? path : `${path}${separator}cursor=${cursor}`);
    if (response?.status !== 200) return `${response?.status} ${response?.body}`;
    const body = JSON.parse(response.body.toString('utf8')) as Page;
    items.push(...(body.items ?? body.events ?? []));
    cursor = body.nextCursor ?? null;
    if (cursor === null) break;
  }
  return JSON.stringify(items);
}

function showDifference(found: string, expected: string): string {
  let at = 0;
  while (at < found.length && found[at] === expected[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 200), at + 300);
  return `found ... ${around(found)} ..., and a fresh process says ... ${around(expected)} ...`;
}
