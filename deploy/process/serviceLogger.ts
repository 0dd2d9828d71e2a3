import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { cutErrorText } from '../../actors/readErrorMessage.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Configuration } from '../configuration/configuration.ts';
import { createRedaction } from './redaction.ts';

/** Members of every line: the program that wrote it. */
const base = { service: 'miner', version: packageJson.version };

/** Entries of a list that an error has, such as the problems of a batch. */
const listedMax = 10;

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
      serializers: { err: serializeError },
    },
    { write: (line) => lines.write(redact(line)) },
  );
}

/** An error as it is logged. Its texts are short, since an error quotes the answer that it is about, which may have megabytes. */
export function serializeError(error: Error): object {
  const { stack, ...members } = pino.stdSerializers.err(error);
  const frames = stack.split('\n').filter((line) => /^\s+at |^caused by/.test(line));
  return { ...cutTexts(members), stack: frames.map(cutErrorText).join('\n') };
}

function cutTexts(members: object): object {
  const cut = (value: unknown): unknown => {
    if (typeof value === 'string') return cutErrorText(value);
    if (Array.isArray(value)) return value.slice(0, listedMax).map(cut);
    return typeof value === 'object' && value !== null ? cutTexts(value) : value;
  };
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, cut(value)]));
}
