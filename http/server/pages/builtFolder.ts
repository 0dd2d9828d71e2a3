import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A folder that the build has written: beside the bundle of the service; where the sources run by themselves, as in tests, in the folder of the build.
 *
 * @param file that is in it once it is complete.
 */
export function findBuiltFolder(name: string, file: string): string {
  const folders = [join(import.meta.dirname, name), join(import.meta.dirname, '../../../dist/deploy', name)];
  const found = folders.find((folder) => existsSync(join(folder, file)));
  if (found === undefined)
    throw new Error(`${name} is not built: expected it in ${folders.join(' or ')}; run \`npm run build\``);
  return found;
}
