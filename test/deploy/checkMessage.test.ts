import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findInputStream, type InputStreamName } from '../../actors/messages/subjects.ts';
import { streamDefinitions } from '../../streams/definitions/streamDefinitions.ts';
import { genesisMs, storedLateNanos } from '../support/genesis.ts';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import { writeDeployment } from '../support/processes/minerProcess.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';

const counter = 'miner.counter.my~wheel';
const reporter = 'miner.reporter.my~wheel';
const reading = (index: number, overrides = {}) => readingMessage('my.wheel', index, overrides);
const at = '2026-01-31T12:00:00.000Z';

it.each([
  [counter, reading(1), null],
  [counter, reading(1, { sequence: -1 }), /^malformed: sequence: expected at least 0, given -1$/],
  [counter, reading(1, { bootId: 'x' }), /^malformed: bootId: expected a UUID, given "x"$/],
  ['miner.counter.other', reading(1), /^wrong_installation: subject: expected miner.counter.my~wheel, since/],
  [reporter, { type: 'run_finished', at, runId: 'r', result: 'ok' }, null],
  [reporter, { type: 'run_started', at, runId: '\ud83d' }, /^malformed: \\ud83d: half of a surrogate pair/],
  ['miner.oracle.my~wheel', { type: 'blocked', at }, /^malformed: reason: expected a text, given nothing$/],
  [
    'miner.chain.0.span',
    {},
    /^malformed: subject: expected a chain ID as a decimal, given miner.chain.0.span/,
  ],
  [
    'miner.chain.x1.span',
    {},
    /^malformed: subject: expected a chain ID as a decimal, given miner.chain.x1.span/,
  ],
])('check-message of %s with %j says %s', (subject, message, expected) => {
  const stream = findInputStream(subject) as InputStreamName;
  const data = Buffer.from(JSON.stringify(message));
  const stored = { seq: 1, subject, data, timestampNanos: storedLateNanos };
  const rejection = streamDefinitions[stream].judgeContent({ genesisMs })(stored);
  const said = rejection && `${rejection.reason}: ${rejection.detail}`;
  expect(said).toEqual(expected && expect.stringMatching(expected));
});

it('check-message says what it cannot judge without a deployment file', async () => {
  const rounds = [{ roundId: '1000000', workUnits: '1' }];
  const closure = { type: 'closure_accepted', at, firstRound: '1000000', lastRound: '1000000', rounds };
  const file = join(temporaryDirectory(), 'message.json');
  writeFileSync(file, JSON.stringify({ ...closure, acceptedAt: at }));
  const run = (environment: Record<string, string>) =>
    minerCommand(['check-message', 'miner.oracle.my~wheel', file], environment);
  expect(await run({})).toEqual({
    status: 0,
    output: expect.stringContaining('not judged: whether closed rounds have ended'),
  });
  writeFileSync(file, JSON.stringify(reading(0)));
  expect((await minerCommand(['check-message', counter, file], {})).output).toMatch(
    /^not judged: whether the time is too long before round 1, .*\naccepted\n$/s,
  );
  writeFileSync(file, JSON.stringify({ ...closure, acceptedAt: at }));
  const judged = await run({ MINER_DEPLOYMENT: writeDeployment(temporaryDirectory()) });
  expect([judged.status, judged.output]).toEqual([1, expect.stringContaining('the end of round 1000000')]);
});

it('check-message names the subjects that it takes', async () => {
  expect(await minerCommand(['check-message', 'miner.counter.my.wheel', '/dev/null'], {})).toEqual({
    status: 2,
    output: expect.stringMatching(/^no stream takes miner.counter.my.wheel: expected/),
  });
});
