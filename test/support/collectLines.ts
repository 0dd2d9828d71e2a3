import { type Level, type Logger, pino } from 'pino';

/** What tests read of a line, each of lines that have it. */
interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly err: { readonly message: string };
  readonly [member: string]: unknown;
}

/** A logger whose lines a test can read, from a level up. */
export function collectLines(level: Level = 'info'): { readonly lines: LogLine[]; readonly logger: Logger } {
  const lines: LogLine[] = [];
  return { lines, logger: pino({ level }, { write: (line) => lines.push(JSON.parse(line)) }) };
}
