import { type Level, type Logger, pino } from 'pino';

/** A logger whose lines a test can read, from a level up. */
export function collectLines(level: Level): { readonly lines: string[]; readonly logger: Logger } {
  const lines: string[] = [];
  return { lines, logger: pino({ level }, { write: (line) => lines.push(line) }) };
}
