import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { minerCommand } from '../support/processes/minerCommand.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';

const counter = 'miner.counter.my~wheel';
const reporter = 'miner.reporter.my~wheel';
const reading = (index: number, overrides = {}) => readingMessage('my.wheel', index, overrides);
const at = '2026-01-31T12:00:00.000Z';

async function check(subject: string, message: unknown, environment: Record<string, string> | null = null) {
  const file = join(temporaryDirectory(), 'message.json');
  writeFileSync(file, JSON.stringify(message));
  const live = environment === null ? [] : ['--live'];
  const { status, output } = await minerCommand(['check-message', ...live, subject, file], environment ?? {});
  return [status, output.replace(/^checking NATS.*\n/, '')];
}

it.each([
  [counter, reading(1), 0, 'accepted\n'],
  [counter, reading(1, { sequence: -1 }), 1, /^malformed: sequence: .*, given -1\n$/],
  [counter, reading(1, { bootId: 'x' }), 1, 'malformed: bootId: expected a UUID, given "x"\n'],
  ['miner.counter.other', reading(1), 1, /^wrong_installation: installationId my.wheel belongs on/],
  [reporter, { type: 'run_finished', at, runId: 'r', result: 'ok' }, 0, 'accepted\n'],
  ['miner.oracle.my~wheel', { type: 'blocked', at }, 1, /^malformed: reason: .*, given nothing\n$/],
  ['miner.chain.0.span', {}, 1, /^malformed: miner.chain.0.span names no chain/],
  ['miner.counter.my.wheel', reading(1), 2, /^no stream takes miner.counter.my.wheel: expected/],
])('check-message of %s with %j exits with %i', async (subject, message, status, output) => {
  expect(await check(subject, message)).toEqual([status, expect.stringMatching(output)]);
});

it('check-message --live compares the message with the stored ones, and publishes nothing', async () => {
  const nats = await startNats();
  const { js, jsm } = await connectTo(nats);
  await jsm.streams.add({ name: 'MINER_COUNTER', subjects: ['miner.counter.*'] });
  await jsm.streams.add({ name: 'MINER_PIPELINE', subjects: ['miner.reporter.*'] });
  await js.publish(counter, JSON.stringify(reading(1)));
  await js.publish(counter, JSON.stringify(reading(3)));
  await js.publish(reporter, JSON.stringify({ type: 'run_started', at, runId: 'one' }));
  const epoch = { counterEpoch: reading(1).counterEpoch, bootId: reading(9).telemetryId };
  const finished = (runId: string) => ({ type: 'run_finished', at, runId, result: 'ok' });
  const cases = [
    [counter, reading(4), 0, /^accepted\n$/],
    [counter, reading(3), 1, /^duplicate: sequence 3 of boot/],
    [counter, reading(2, epoch), 1, /^out_of_order: observed 10000 ms before/],
    [counter, reading(4, { cumulativeWorkUnits: '20' }), 1, /^counter_regression: counter 20 in epoch/],
    ['miner.counter.other', readingMessage('other', 1), 0, /^accepted\n$/],
    [reporter, finished('one'), 0, /^accepted\n$/],
    [reporter, finished('two'), 1, /^not_allowed: run two is not under way, one is\n$/],
    ['miner.chain.1.reads', {}, 1, /^malformed: /],
  ] as const;
  for (const [subject, message, status, output] of cases)
    expect(await check(subject, message, { MINER_NATS_URL: nats.url })).toEqual([
      status,
      expect.stringMatching(output),
    ]);
  expect((await jsm.streams.info('MINER_COUNTER')).state.messages).toBe(2);
  const gone = await check(counter, reading(4), { MINER_NATS_URL: 'nats://127.0.0.1:1' });
  expect(gone).toEqual([2, expect.stringContaining('check MINER_NATS_URL and that nats-server runs')]);
});

it('completion completes commands and options, and defines the command', () => {
  const program = resolve(import.meta.dirname, '../../dist/deploy/miner.js');
  const script = `source <(${process.execPath} ${program} completion bash)
    complete_at() { COMP_WORDS=(miner "$@") COMP_CWORD=$#; _miner; echo "\${COMPREPLY[@]}"; }
    complete_at check; complete_at replay --from-; complete_at completion z; miner --version`;
  const output = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(output).toMatch(/^check-message\n--from-sequence --from-time\nzsh\n\d+\.\d+\.\d+\n$/);
});
