import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Messages as the first release accepts them, at least one of every kind. Later versions add lines, and change none. */
export const messageExamples = readFileSync(
  resolve(import.meta.dirname, '../../streams/messageExamples.txt'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [subject = ''] = line.split(' ', 1);
    const text = line.slice(subject.length + 1);
    return { subject, text, data: Buffer.from(text) };
  });
