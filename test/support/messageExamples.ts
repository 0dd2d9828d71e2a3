import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const page = readFileSync(resolve(import.meta.dirname, '../../streams/MESSAGES.md'), 'utf8');

/** Messages that MESSAGES.md shows: at least one of every kind. */
export const messageExamples = [...page.matchAll(/^```json (miner\S+)\n(.*?)\n```$/gms)].flatMap(
  ([, subject = '', lines = '']) =>
    lines.split('\n').map((text) => ({ subject, text, data: Buffer.from(text) })),
);
