import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventTypes } from '../actors/events/eventSchemas.ts';
import { counterReadingMessage, measurements } from '../actors/wheel/counterReading.ts';
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
];
const folders = ['actors', 'benchmarks', 'deploy', 'http', 'machines', 'storage', 'streams', 'test'];

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

  it('list what each user of NATS may publish, as in the configuration of nats-server', () => {
    const accounts = read('deploy/nats/accounts.conf');
    const users = [...accounts.matchAll(/user: (\w+), .*\n\s+imports: (\[\n[^\]]+\]|.+)\n/g)];
    const told = users.map(([, user, imports = '']) => [
      user,
      [...imports.matchAll(/"(miner\.[^"]+)"/g)].map(([, subject]) => subject),
    ]);
    const listed = [
      ...read('deploy/RUNNING.md').matchAll(
        /^\| `(\w+)` \| [^|]+ \| ([^|]*`miner\.[^|]+|nothing) \| [^|]+ \|$/gm,
      ),
    ].map(([, user, subjects = '']) => [user, [...subjects.matchAll(/`([^`]+)`/g)].map(([, one]) => one)]);
    expect(listed).toEqual(told);
    expect(listed.length).toBe(8);
  });

  it('name a test for each attack in SECURITY.md', () => {
    const rows =
      read('SECURITY.md')
        .split('## Attacks\n')[1]
        ?.split('\n## ')[0]
        ?.match(/^\| .+ \|$/gm) ?? [];
    const tests = rows
      .slice(1)
      .map((row) => [...row.matchAll(/`(test\/[\w/]+\.test\.ts)`/g)].map(([, file = '']) => file));
    expect(tests.length).toBeGreaterThan(15);
    for (const [index, files] of tests.entries()) {
      expect([rows[index + 1], files.length]).not.toEqual([rows[index + 1], 0]);
      for (const file of files) expect([file, existsSync(join(root, file))]).toEqual([file, true]);
    }
  });

  // The changelog also names files of earlier versions.
  it.each(pages.filter((page) => page !== 'CHANGELOG.md'))('%s names only files that exist', (path) => {
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

  it.each(['http/CONTRACT.md', 'streams/MESSAGES.md'])('%s has every section that comments cite', (page) => {
    const titles = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
    const citation = new RegExp(`${page.split('/')[1]}, ([A-Z].*)`, 'g');
    const sources = folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => /^(?!.*node_modules).*\.(?:ts|md)$/.test(file))
        .map((file) => `${folder}/${file}`),
    );
    const cited = sources.flatMap((file) =>
      [...read(file).matchAll(citation)].map(([, text = '']) => ({ file, text })),
    );
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter(({ text }) => !titles.some((title) => text.startsWith(title)))).toEqual([]);
  });

  it('name each member of a reading', () => {
    const page = read('streams/MESSAGES.md');
    const members = Object.keys(counterReadingMessage.shape);
    expect(members.filter((member) => !page.includes(`\`${member}\``))).toEqual([]);
  });

  it('say when each event of readings is emitted', () => {
    const [, section = ''] = /\n### Emission conditions\n(.*?)\n## /s.exec(read('http/CONTRACT.md')) ?? [];
    const listed = [...section.matchAll(/^- `(\w+)`: /gm)].map(([, name]) => `measurement.${name}`);
    expect(listed.sort()).toEqual(eventTypes.filter((type) => type.startsWith('measurement.')).sort());
  });

  it('name each measured value and type of event that the last release lacks, in the changelog', () => {
    const names = [...Object.keys(measurements), ...eventTypes];
    const listNew = (released: string) => names.filter((name) => !released.includes(`"${name}"`));
    const [, unreleased = ''] = /\n## Unreleased\n(.*?)\n## /s.exec(read('CHANGELOG.md')) ?? [];
    const isMissing = (name: string) => !unreleased.includes(`\`${name}\``);
    expect(listNew(read('deploy/release/released.json')).filter(isMissing)).toEqual([]);
    expect(listNew('{}')).toEqual(names);
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
