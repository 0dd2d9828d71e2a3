import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { cutErrorText } from '../../actors/readErrorMessage.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Configuration } from '../configuration/configuration.ts';

/** Members of every line: the program that wrote it. */
const base = { service: 'miner', version: packageJson.version };

/** Entries of a list that an error has, such as the problems of a batch. */
const listedMax = 10;
/** Objects and lists that are shown of an error. */
const shownMax = 200;

/** Creates a logger of JSON lines on stderr, with names of levels and ISO times; on a terminal the lines are more readable. */
export function createLogger(level: Configuration['MINER_LOG_LEVEL']): Logger {
  const isTerminal = process.stderr.isTTY === true;
  const ignore = ['pid', 'hostname', ...Object.keys(base)].join(',');
  const lines = isTerminal
    ? pretty({ destination: 2, sync: true, ignore, translateTime: 'SYS:HH:MM:ss' })
    : pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { err: serializeError },
    },
    lines,
  );
}

/** Members of an error, or of another thrown value, for the log. Their texts are short, since an error may quote an answer of megabytes. */
export function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return cutTexts(error);
  const { stack, ...members } = pino.stdSerializers.err(error);
  const frames = stack.split('\n').filter((line) => /^\s+at |^caused by/.test(line));
  return { ...(cutTexts(members) as object), stack: frames.map(cutErrorText).join('\n') };
}

/** @param shown the objects that a value lies in or stands behind. Each is shown once, since an object may lead back to itself. */
function cutTexts(value: unknown, shown = new Set<object>()): unknown {
  if (typeof value === 'string') return cutErrorText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (shown.has(value) || shown.size === shownMax) return '…';
  shown.add(value);
  if (Array.isArray(value)) return value.slice(0, listedMax).map((one) => cutTexts(one, shown));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutTexts(one, shown)]));
}
