import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Finds a folder that the build has written: next to the bundle of the service, or in the build's folder if the sources run directly, as in tests.
 *
 * @param file a file that exists once the folder is complete.
 * @throws Error if the folder is not built.
 */
export function findBuiltFolder(name: string, file: string): string {
  const folders = [join(import.meta.dirname, name), join(import.meta.dirname, '../../../dist/deploy', name)];
  const found = folders.find((folder) => existsSync(join(folder, file)));
  if (found === undefined)
    throw new Error(`${name} is not built: expected it in ${folders.join(' or ')}; run \`npm run build\``);
  return found;
}
