import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCounterActors } from '../actors/wheel/counterActors.ts';
import { counterReadingMessage, measurements } from '../actors/wheel/counterReading.ts';
import { drawMachines, machines } from '../deploy/build/machineDiagrams.ts';
import { variables } from '../deploy/configuration/configuration.ts';
import { routes } from '../http/routes/routes.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'DECISIONS.md',
  'GLOSSARY.md',
  'SECURITY.md',
  'http/CONTRACT.md',
  'streams/MESSAGES.md',
];
const folders = ['actors', 'benchmarks', 'deploy', 'http', 'machines', 'storage', 'streams', 'test'];

/** Anchors of a page's sections, as they are linked to. */
function listSections(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  );
}

describe('README', () => {
  it('has every variable as it is checked, and no other', () => {
    const rows = Object.entries(variables).map(([name, { defaultValue, meaning }]) => {
      const cell = defaultValue === '' ? ' ' : ` \`${defaultValue}\` `;
      return `| \`${name}\` |${cell}| ${meaning} |`;
    });
    expect(read('README.md').match(/^\| `MINER_.*$/gm)).toEqual(rows);
  });

  it('has every route of the table, and no other', () => {
    const rows = routes.map(
      ({ path, summary, rateClass }) => `| \`${path}\` | ${summary} | \`${rateClass}\` |`,
    );
    expect(read('README.md').match(/^\| `\/.*$/gm)).toEqual(rows);
  });

  it('shows a reading that is accepted as it stands', () => {
    const [, subject = '', body = ''] = /pub (\S+) [^']*'(\{[^']+\})'/.exec(read('README.md')) ?? [];
    const actors = createCounterActors({ genesisMs: 0, publicInstallationId: 'my.wheel' });
    const outcome = actors.receive({ seq: 1, subject, data: Buffer.from(body), timestampNanos: 0n });
    expect(outcome).toHaveProperty('output.reading.installationId', 'my.wheel');
  });

  it('lists what users of NATS may publish as nats-server is told', () => {
    const accounts = read('deploy/nats/accounts.conf');
    const users = [...accounts.matchAll(/user: (\w+), .*\n\s+imports: (\[\n[^\]]+\]|.+)\n/g)];
    const told = users.map(([, user, imports = '']) => [
      user,
      [...imports.matchAll(/"(miner\.[^"]+)"/g)].map(([, subject]) => subject),
    ]);
    const listed = [
      ...read('README.md').matchAll(/^\| `(\w+)` \| [^|]+ \| ([^|]*`miner\.[^|]+|nothing) \| [^|]+ \|$/gm),
    ].map(([, user, subjects = '']) => [user, [...subjects.matchAll(/`([^`]+)`/g)].map(([, one]) => one)]);
    expect(listed).toEqual(told);
    expect(listed.length).toBe(8);
  });

  it('knows the attacks that SECURITY.md lists, each with a test', () => {
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

  it.each([...pages, ...folders.map((folder) => `${folder}/README.md`)])(
    '%s names only files that exist',
    (path) => {
      const text = read(path);
      const named = [...text.matchAll(/`([\w./-]+\.(?:ts|mjs|md))`/g)].map(([, file = '']) => file);
      const missing = named.filter(
        (file) => !existsSync(join(root, file)) && !existsSync(join(root, dirname(path), file)),
      );
      expect(missing).toEqual([]);
    },
  );

  it.each([...pages, ...folders.map((folder) => `${folder}/README.md`)])(
    '%s links only to pages and sections that exist',
    (path) => {
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
    },
  );

  it.each(['http/CONTRACT.md', 'streams/MESSAGES.md'])('comments cite only sections that %s has', (page) => {
    const titles = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
    const citation = new RegExp(`${page.split('/')[1]}, ([A-Z].*)`, 'g');
    const sources = folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') || file.endsWith('.md'))
        .map((file) => `${folder}/${file}`),
    );
    const cited = sources.flatMap((file) =>
      [...read(file).matchAll(citation)].map(([, text = '']) => ({ file, text })),
    );
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter(({ text }) => !titles.some((title) => text.startsWith(title)))).toEqual([]);
  });

  it('of the messages names each member of a reading, and the contract what a device measures', () => {
    const isMissing = (page: string) => (member: string) => !read(page).includes(`\`${member}\``);
    expect(Object.keys(counterReadingMessage.shape).filter(isMissing('streams/MESSAGES.md'))).toEqual([]);
    expect(Object.keys(measurements).filter(isMissing('http/CONTRACT.md'))).toEqual([]);
  });

  it('of machines lists each of them', () => {
    const listed = [...read('machines/README.md').matchAll(/`(\w+Machine\.ts)`/g)].map(([, file]) => file);
    const files = readdirSync(join(root, 'machines')).filter((file) => file.endsWith('Machine.ts'));
    expect([...new Set(listed)].sort()).toEqual(files.sort());
    expect(machines.map(({ id }) => `${id}Machine.ts`).sort()).toEqual(files.sort());
  });

  it('of machines draws each as it is (npm run diagrams)', () => {
    expect(read('machines/README.md')).toContain(drawMachines());
  });
});
