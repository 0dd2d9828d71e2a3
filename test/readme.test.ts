import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import guidePages from '../http/guides/pages.json' with { type: 'json' };
import { examples } from '../http/routes/documentation/examples.ts';
import { routes } from '../http/routes/routes.ts';
import { drawMachine, machines } from './machines/machineDiagrams.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'DECISIONS.md',
  'GLOSSARY.md',
  'SECURITY.md',
  'benchmarks/README.md',
  'deploy/RUNBOOK.md',
  'deploy/RUNNING.md',
  'http/CONTRACT.md',
  'streams/MESSAGES.md',
  ...guidePages.map(({ name }) => `http/guides/${name}.md`),
];

/** Anchors of a page's sections. */
function listSections(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  );
}

describe('pages', () => {
  it('list every route, and no other', () => {
    const [, section = ''] = /\n## Public and plain routes\n(.*?)\n## /s.exec(read('http/CONTRACT.md')) ?? [];
    const tableRows = section.match(/^\|.*$/gm) ?? [];
    const listed = tableRows.flatMap((row) => [...row.matchAll(/`(\/[^`]+)`/g)].map(([, path]) => path));
    const paths = [...routes.map(({ path }) => path), '/v1/events/stream'];
    expect([...new Set(listed)].sort()).toEqual(paths.sort());
  });

  it.each(pages)('%s names only files that exist', (path) => {
    const text = read(path);
    const named = [...text.matchAll(/`([\w./-]+\.(?:ts|mjs|md))`/g)].map(([, file = '']) => file);
    const missing = named.filter(
      (file) => !existsSync(join(root, file)) && !existsSync(join(root, dirname(path), file)),
    );
    expect(missing).toEqual([]);
  });

  it.each(pages)('%s links only to pages and sections that exist', (path) => {
    const broken = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !target.startsWith('http'))
      .filter((target) => {
        const [file = '', section] = target.split('#');
        const linked = file === '' ? path : join(dirname(path), file);
        if (!existsSync(join(root, linked))) return true;
        return section !== undefined && !listSections(read(linked)).includes(section);
      });
    expect(broken).toEqual([]);
  });

  it('begin with a recorded answer (npm run examples)', () => {
    const [, answer = ''] = /```json\n(.*?)```/s.exec(read('README.md')) ?? [];
    expect(JSON.parse(answer)).toEqual(examples.bodies.Telemetry?.answer);
  });

  it('has a diagram of each machine', () => {
    const files = readdirSync(join(root, 'machines')).filter((file) => file.endsWith('Machine.ts'));
    expect(machines.map(({ id }) => `${id}Machine.ts`).sort()).toEqual(files.sort());
  });

  it.each(machines)('the diagram of the machine $id is up to date (npm run diagrams)', async (machine) => {
    const path = join(root, `machines/diagrams/${machine.id}.mmd`);
    await expect(drawMachine(machine)).toMatchFileSnapshot(path);
  });
});
