import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { readNatsAccess } from '../../streams/nats/natsAccess.ts';
import { readCommandLine, startLocal } from '../support/explorer/localService.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';

interface Telemetry {
  readonly status: string;
  readonly revision: string | null;
}

const readJson = async <Body>(url: string) => (await (await fetch(url)).json()) as Body;

/** Runs the command of `npm start` with a shorter past, on free ports. */
async function startShorter(dataDir: string) {
  const started = startLocal(dataDir, ['--past-days', '0.2'], { MINER_RATE_LIMITS: 'off' });
  const statusUrl = await started.find(/status\s+(http\S+)/, 'the status');
  const telemetryUrl = await started.find(/telemetry\s+(http\S+)/, 'the telemetry');
  const online = () =>
    eventually(async () => {
      const telemetry = await readJson<Telemetry>(telemetryUrl);
      return telemetry.status === 'online' ? telemetry : null;
    }, `a live measurement: ${started.output()}`);
  /** The process ID of its server that said this. */
  const pidOf = (said: string) =>
    Number(new RegExp(`"pid":(\\d+)[^\\n]*"${said}"`).exec(started.output())?.[1]);
  return { ...started, statusUrl, coreUrl: statusUrl.replace('/v1/status', '/v1/core'), online, pidOf };
}

const isAlive = (pid: number) => readCommandLine(pid) !== '';

const parsePosition = ({ revision }: Telemetry) => Number(revision?.split('.')[0]);

/** The command in the README. */
const readNatsUrl = (dataDir: string) => readFileSync(join(dataDir, 'nats/url'), 'utf8').trim();

/** Files and folders that another user of the machine could open. */
function listReadableByOthers(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
}

describe('npm start', () => {
  it('shows a past and a live wheel, continues with the data, and names what prevents it', async () => {
    const dataDir = temporaryDirectory();
    const first = await startShorter(dataDir);
    const before = await first.online();
    expect(parsePosition(before)).toBeGreaterThan(1_000);
    const status = await eventually(async () => {
      const shown = await readJson<{ modules: unknown[] }>(first.statusUrl);
      return shown.modules.length > 0 && shown;
    }, 'modules');
    expect(status).toHaveProperty('measurement.provenance', 'simulated');
    const settledThrough = async ({ coreUrl }: typeof first) => {
      const { core } = await readJson<{ core?: { settledThroughRound: string } }>(coreUrl);
      return Number(core?.settledThroughRound ?? 0);
    };
    const settled = await eventually(() => settledThrough(first), 'a settlement at the safe block');

    await eventually(() => first.output().includes('has reached the present'), 'the present of the chain');
    // All four stages: measured, optimistic, settled, issued, and a reporter that ran a moment ago.
    await eventually(async () => {
      const { builder, settlementQueue } = await readJson<{
        builder: { status: string };
        settlementQueue: { state?: string; latestSubmission?: object | null };
      }>(first.statusUrl);
      return (
        builder.status === 'available' &&
        settlementQueue.state !== 'stale' &&
        settlementQueue.latestSubmission != null
      );
    }, 'a projection, a submission and a recent run of the reporter');

    expect(await first.end('SIGINT'), first.output()).toBe(0);
    expect(isAlive(first.pidOf('nats-server started'))).toBe(false);
    expect(listReadableByOthers(dataDir)).toEqual([]);

    const second = await startShorter(dataDir);
    await eventually(() => second.output().includes('"snapshot restored"'), 'the snapshot');
    const [natsUrl, natsToken = ''] =
      /^nats:\/\/([\w-]{32})@127\.0\.0\.1:\d+$/.exec(readNatsUrl(dataDir)) ?? [];
    expect(second.output()).not.toContain(natsToken);
    await expect(
      connect({ servers: natsUrl?.replace(/\/\/.*@/, '//') ?? '', reconnect: false }),
    ).rejects.toThrow('Authorization Violation');
    const publisher = await connect({ ...readNatsAccess({ url: readNatsUrl(dataDir) }), reconnect: false });
    await publisher.close();
    const grown = await eventually(
      async () => parsePosition(await second.online()) - parsePosition(before),
      'readings after the restart',
    );
    expect(grown).toBeLessThan(60);
    await eventually(async () => (await settledThrough(second)) >= settled, 'the same chain again');
    // When the chain stops and resumes, so does the simulation.
    await eventually(() => second.output().includes('has reached the present'), 'the present of the chain');
    process.kill(second.pidOf('anvil started'), 'SIGSTOP');
    await eventually(() => second.output().includes('the simulated chain does not answer'), 'a paused chain');
    process.kill(second.pidOf('anvil started'), 'SIGCONT');
    const safeBlock = async () => {
      const core = await (await fetch(second.coreUrl)).text();
      return Number(/"safeThroughBlock":"(\d+)"/.exec(core)?.[1]);
    };
    const blockThen = await eventually(safeBlock, 'a safe block');
    await eventually(async () => (await safeBlock()) > blockThen, 'later blocks');
    // Its own nats-server killed from outside is restarted with the same data.
    process.kill(second.pidOf('nats-server started'), 'SIGKILL');
    await eventually(() => second.output().includes('nats-server restarted'), 'another nats-server');
    const position = parsePosition(await second.online());
    await eventually(async () => parsePosition(await second.online()) > position + 2, 'readings after it');
    const orphan = second.pidOf('nats-server restarted');
    await second.end('SIGKILL');

    const third = await startShorter(dataDir);
    await eventually(async () => parsePosition(await third.online()) > position, 'a reading after the kill');
    expect(isAlive(orphan)).toBe(false);
    const beside = await minerCommand(['local'], {
      MINER_DATA_DIR: dataDir,
      MINER_HTTP_PORT: '0',
      MINER_OPS_PORT: '0',
    });
    expect(beside.status).not.toBe(0);
    expect(beside.output).toContain(`in use by process ${third.pid}`);
    await third.online();
    expect(await third.end('SIGTERM'), third.output()).toBe(0);
  });
});
