import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the guides' programs. */
export const programsFolder = join(import.meta.dirname, 'programs');

/** Markdown of a guide, with its programs in the places of their names (`{{programs/gateway.py}}`). */
export function readGuide(name) {
  return readFileSync(join(import.meta.dirname, `${name}.md`), 'utf8').replaceAll(
    /\{\{programs\/([\w.]+)\}\}\n/g,
    (_, file) => readFileSync(join(programsFolder, file), 'utf8'),
  );
}
