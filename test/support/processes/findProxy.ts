import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where a proxy is; null where it is not installed, and tests that need it say so and are skipped. */
export function findProxy(name: 'nginx' | 'haproxy'): string | null {
  const folders = [
    ...(process.env.PATH ?? '').split(':'),
    '/usr/sbin',
    '/usr/local/sbin',
    '/opt/homebrew/bin',
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}
