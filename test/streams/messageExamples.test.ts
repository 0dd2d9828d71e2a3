import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { findInputStream } from '../../actors/messages/subjects.ts';
import { oracleMessage } from '../../actors/settlement/oracleMessage.ts';
import { reporterMessage } from '../../actors/settlement/reporterMessage.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { streamDefinitions } from '../../streams/definitions/streamDefinitions.ts';
import { genesisMs, storedLateNanos } from '../support/genesis.ts';
import { messageExamples as examples } from '../support/messageExamples.ts';

it('there is an example of every kind of message', () => {
  const named = examples.map(({ subject, text }) => {
    const [, kind, , chainKind] = subject.split('.');
    return (JSON.parse(text) as { type?: string }).type ?? (kind === 'chain' ? chainKind : kind);
  });
  const types = [...oracleMessage.options, ...reporterMessage.options].map(({ shape }) => shape.type.value);
  expect([...new Set(named)].sort()).toEqual(
    ['counter', 'module', 'signer', 'span', 'reads', ...types].sort(),
  );
});

it('MESSAGES.md shows the example of a reading', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../streams/MESSAGES.md'), 'utf8');
  expect(page).toContain(`\n\`\`\`json\n${examples[0]?.text}\n\`\`\`\n`);
});

it.each(examples)('the decoder accepts the example on $subject: $text', ({ subject, data }) => {
  const stream = findInputStream(subject);
  expect(
    stream === null
      ? 'no stream'
      : streamDefinitions[stream].judgeContent({ genesisMs })({
          seq: 1,
          subject,
          data,
          timestampNanos: storedLateNanos,
        }),
  ).toBeNull();
});

it('later versions add examples, and change none of the first release', () => {
  const lines = examples.slice(0, 23).map(({ subject, text }) => `${subject} ${text}\n`);
  expect(createHash('sha256').update(lines.join('')).digest('hex')).toBe(
    '090da36658c62e4309718a9e03a4c4803a08c17d9ad399012d3377ac753bd7a1',
  );
});

it('the examples are accepted in their order, and mean what they did', () => {
  const counters = createCounterActors({ genesisMs: 0, publicInstallationId: 'my.wheel' });
  const actors = createSettlementActors({ genesisMs });
  const outcomes = examples
    .map((example, index) => ({ ...example, seq: index + 1, timestampNanos: storedLateNanos }))
    .map((one) => (one.subject.startsWith('miner.counter') ? counters : actors).receive(one))
    .filter((outcome) => outcome === 'unread' || 'rejection' in outcome);
  expect(outcomes).toEqual(
    examples.filter(({ subject }) => subject.startsWith('miner.chain')).map(() => 'unread'),
  );
  const { snapshot } = actors.settlement('my.wheel');
  expect(counters.installation('my.wheel')?.acceptance.latest).toMatchObject({
    observedAtMs: Date.UTC(2026, 0, 31, 12),
    cumulativeWorkUnits: 340n,
    provenance: 'hardware',
    rpmMilli: 15_000,
    distanceMm: 85_000,
  });
  expect(actors.modules('my.wheel').modules).toMatchObject([{ instanceId: 'sensor-1', state: 'ready' }]);
  expect(actors.signer('my.wheel')).toMatchObject({ kind: 'software-ecdsa', keySlot: 'main' });
  expect([snapshot.value, snapshot.context]).toMatchObject([
    { oracle: 'unblocked', run: 'idle', incidents: 'noneOpen', submission: { ended: 'confirmed' } },
    {
      closure: { firstRound: 1n, lastRound: 2n, acceptedAtMs: Date.UTC(2026, 0, 31, 12, 29, 59) },
      settlementEnabled: true,
      lastRun: { result: 'reverted' },
      submission: { settledThroughRound: 2n, expected: { cumulativeWork: 340n } },
    },
  ]);
});
