import { pino } from 'pino';

/** A logger for parts whose log a test does not read. */
export const silentLogger = pino({ level: 'silent' });
