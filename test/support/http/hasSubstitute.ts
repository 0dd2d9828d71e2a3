import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Whether the substitute for the native HTTP engine is installed. Only the older engine's package contains it. */
export const hasSubstitute = existsSync(resolve(import.meta.dirname, '../../../node_modules/uWebSockets.js'));
