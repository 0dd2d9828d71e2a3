import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Configuration } from './configuration.ts';
import { createRedaction } from './redaction.ts';

/** JSON lines on the error stream, without secrets; more readable ones if that is a terminal. */
export function createLogger(level: Configuration['MINER_LOG_LEVEL']): Logger {
  const isTerminal = process.stderr.isTTY === true;
  const lines = isTerminal
    ? pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' })
    : pino.destination({ dest: 2, sync: true });
  const redact = createRedaction(process.env);
  return pino({ level, base: null }, { write: (line) => lines.write(redact(line)) });
}
