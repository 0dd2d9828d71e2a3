import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import packageJson from '../../package.json' with { type: 'json' };
import type { Configuration } from '../configuration/configuration.ts';
import { createRedaction } from './redaction.ts';

/** Members of every line: the program that wrote it. */
const base = { service: 'miner', version: packageJson.version };

/** Creates a logger of JSON lines on stderr, with names of levels and ISO times, without secrets; on a terminal the lines are more readable. */
export function createLogger(level: Configuration['MINER_LOG_LEVEL']): Logger {
  const isTerminal = process.stderr.isTTY === true;
  const ignore = ['pid', 'hostname', ...Object.keys(base)].join(',');
  const lines = isTerminal
    ? pretty({ destination: 2, sync: true, ignore, translateTime: 'SYS:HH:MM:ss' })
    : pino.destination({ dest: 2, sync: true });
  const redact = createRedaction(process.env);
  return pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
    },
    { write: (line) => lines.write(redact(line)) },
  );
}
