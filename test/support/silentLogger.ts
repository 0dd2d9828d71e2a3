import { pino } from 'pino';

/** For parts whose log the test does not read. */
export const silentLogger = pino({ level: 'silent' });
