import { type Logger, pino } from 'pino';
import type { Configuration } from './configuration.ts';

/** JSON lines on the error stream; more readable ones if that is a terminal. */
export function createLogger(level: Configuration['MINER_LOG_LEVEL']): Logger {
  const isTerminal = process.stderr.isTTY === true;
  if (!isTerminal) return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
  const options = { destination: 2, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' };
  return pino({ level, transport: { target: 'pino-pretty', options } });
}
