import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryDirectory } from './processes/lifetime.ts';

const root = resolve(import.meta.dirname, '../..');
const copied = [
  ...['actors', 'deploy', 'http', 'machines', 'storage', 'streams'],
  ...['test/reference', 'test/simulation', 'test/support'],
  ...['package.json', 'tsconfig.json'],
];

/** A change that a recipe of CONTRIBUTING.md asks for. */
export interface Edit {
  readonly file: string;
  /** The change is inserted behind each occurrence of this text. */
  readonly after: string;
  readonly insert: string;
}

/** Loads a module of a program by its path, which the caller names as its type, too. */
export type LoadModule = <Module>(path: string) => Promise<Module>;

/** A copy of the program's text. It is removed when the test has finished. */
export function copyProgram() {
  const directory = temporaryDirectory();
  for (const path of copied) cpSync(join(root, path), join(directory, path), { recursive: true });
  for (const path of ['dist', 'node_modules']) symlinkSync(join(root, path), join(directory, path));
  const load: LoadModule = (path) => import(join(directory, path));
  return {
    directory,
    edit(edits: readonly Edit[]): void {
      for (const { file, after, insert } of edits) {
        const path = join(directory, file);
        const text = readFileSync(path, 'utf8');
        if (!text.includes(after)) throw new Error(`${file} does not contain ${after}`);
        writeFileSync(path, text.replaceAll(after, after + insert));
      }
    },
    /** Edits must come first: what is loaded stays. */
    load,
  };
}

/** Loads modules of this program. */
export const loadModule: LoadModule = (path) => import(join(root, path));
