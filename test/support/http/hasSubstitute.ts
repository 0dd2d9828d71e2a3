import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Whether the substitute for the native HTTP engine is installed: only the older engine brings it, and a machine has one engine. */
export const hasSubstitute = existsSync(resolve(import.meta.dirname, '../../../node_modules/uWebSockets.js'));
