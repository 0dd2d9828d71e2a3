import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { oracleMessage } from '../../actors/settlement/oracleMessage.ts';
import { reporterMessage } from '../../actors/settlement/reporterMessage.ts';
import { checkContent, createJudge, findInputStream } from '../../deploy/commands/checkMessage.ts';
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
  expect(stream === null ? 'no stream' : checkContent(stream, subject, data)).toBeNull();
});

it('the examples of oracle and reporter are accepted in their order', () => {
  const judge = createJudge('MINER_PIPELINE');
  const judged = examples
    .filter(({ subject }) => findInputStream(subject) === 'MINER_PIPELINE')
    .map(({ subject, data }, index) => judge({ seq: index + 1, subject, data, timestampNanos: 0n }));
  expect(judged).toEqual(judged.map(() => null));
});
