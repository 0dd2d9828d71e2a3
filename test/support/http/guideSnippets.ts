import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';
import guidePages from '../../../http/guides/pages.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../../..');

/** A program of a guide: a named code block. */
interface Snippet {
  /** Page, language and name: `start ts follow`. */
  readonly id: string;
  readonly language: string;
  readonly source: string;
}

export function readGuide(name: string): string {
  return readFileSync(join(root, 'http/guides', `${name}.md`), 'utf8');
}

export function listSnippets(): Snippet[] {
  return guidePages.flatMap(({ name: page }) =>
    [...readGuide(page).matchAll(/^```(\w+) (\w+)\n(.*?)^```$/gms)].map(
      ([, language = '', name = '', source = '']) => ({
        id: `${page} ${language} ${name}`,
        language,
        source,
      }),
    ),
  );
}

/** Returns the command that runs a snippet in a folder, against the service at a URL. */
export async function prepareSnippet({ id, language, source }: Snippet, folder: string, base: string) {
  const [, , ownName] = id.split(' ');
  const addressed = source.replaceAll('http://127.0.0.1:8080', base);
  const write = (name: string) => {
    writeFileSync(join(folder, name), addressed);
    return join(folder, name);
  };
  if (language === 'sh') return { command: 'sh', args: [write(`${ownName}.sh`)] };
  if (language === 'py') return { command: 'python3', args: [write(`${ownName}.py`)] };
  if (language !== 'ts') throw new Error(`nothing runs ${language}`);
  const file = join(folder, 'snippet.mjs');
  await build({
    cwd: root,
    input: write('snippet.ts'),
    platform: 'node',
    resolve: { modules: [join(root, 'node_modules')] },
    output: { file },
    logLevel: 'silent',
  });
  return { command: process.execPath, args: [file] };
}

/** Writes the TypeScript snippets into a folder, with typical compiler options of a user. */
export function writeTypeCheck(snippets: readonly Snippet[], folder: string): string {
  const files = snippets
    .filter(({ id, language }) => language === 'ts' && !id.startsWith('generate'))
    .map(({ id, source }) => {
      const file = `${id.replaceAll(' ', '-')}.ts`;
      writeFileSync(join(folder, file), source);
      return file;
    });
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'preserve',
    moduleDetection: 'force',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const project = join(folder, 'tsconfig.json');
  writeFileSync(project, JSON.stringify({ compilerOptions, files }));
  return project;
}
