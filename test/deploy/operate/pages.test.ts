import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { streamNames } from '../../../actors/messages/subjects.ts';
import { variables } from '../../../deploy/configuration/configuration.ts';
import { runDeployScript } from '../../support/processes/deployScript.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { commandNames, deployDir, isIgnored, readDeployFile, root } from './deployFiles.ts';
import { knownMetrics } from './knownMetrics.ts';

const pages = ['RUNBOOK.md', 'RUNNING.md'];
/** Lines of nats-server. */
const ofServers = ['no space left', 'Reloaded server configuration'];

describe.each(pages)('%s', (page) => {
  const text = readDeployFile(page);

  it('names files that exist', () => {
    const named = [...text.matchAll(/`((?:\w+\/)?[\w.-]+\.(?:ts|mjs|md|yaml|json|conf|cfg))`/g)].map(
      ([, file = '']) => file,
    );
    expect(named.length).toBeGreaterThan(3);
    const places = [deployDir, root, join(deployDir, 'kubernetes')];
    // createSecrets.mjs and the operator make these files later.
    const isCreatedLater = (file: string) => file.startsWith('secrets/') || file === 'deploy/deployment.json';
    expect(
      named.filter((file) => !isCreatedLater(file) && !places.some((place) => existsSync(join(place, file)))),
    ).toEqual([]);
  });

  it('gives commands that a shell understands', () => {
    const script = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block).join('\n');
    const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('gives commands and options that the command line has', () => {
    const source = readDeployFile('miner.ts');
    const given = [
      ...text.matchAll(/(?:(?:^|`)miner|miner\.js|indexer) ([a-z-]+)((?: +(?:--)?[\w./:-]+)*)/gm),
    ];
    const named = given.filter(([line]) => !line.startsWith('indexer') || line.includes('index --'));
    expect(named.length).toBeGreaterThan(0);
    expect(named.map(([, name = '']) => name).filter((name) => !commandNames().includes(name))).toEqual([]);
    const options = named.flatMap(([, , rest = '']) => rest.match(/--[a-z-]+/g) ?? []);
    expect(options.filter((option) => !source.includes(`'${option}`))).toEqual([]);
  });

  it('quotes only lines that the service logs', () => {
    const sources = ['deploy', 'http', 'storage', 'streams'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => readFileSync(join(root, folder, file), 'utf8')),
    );
    const quoted = [...text.matchAll(/`([a-z]+(?: [a-zA-Z]+){2,})`/g)].map(([, line = '']) => line);
    const isOfService = (line: string) =>
      !/^(?:docker|kubectl|nats|npm|miner) /.test(line) && !ofServers.includes(line);
    const unknown = (line: string) => !sources.some((source) => source.includes(line));
    expect(quoted.filter(isOfService).filter(unknown)).toEqual([]);
  });

  it('names variables and metrics that the service has', () => {
    const named = [...text.matchAll(/\bMINER_[A-Z]+(?:_[A-Z]+)*\b/g)].map(([name]) => name);
    const streams: ReadonlySet<string> = new Set(streamNames);
    expect(named.filter((name) => !(name in variables) && !streams.has(name))).toEqual([]);
    const metrics = [...text.matchAll(/\b(?:miner|nodejs|process)_[a-z0-9_]+\b/g)].map(([name]) => name);
    const known = knownMetrics();
    expect(metrics.filter((name) => !known.has(name))).toEqual([]);
  });
});

it('the runbook asks NATS through this machine, with the authority if it has a certificate', () => {
  const dir = temporaryDirectory();
  writeFileSync(join(dir, 'nats'), '#!/bin/sh\necho "$NATS_CA $@"\n', { mode: 0o755 });
  runDeployScript('createSecrets.mjs', join(dir, 'secrets'));
  const ask = () =>
    execFileSync('bash', ['--norc', '-c', `. ${join(deployDir, 'operator.sh')}\nnats stream report`], {
      cwd: dir,
      env: { PATH: `${dir}:${process.env.PATH}` },
      encoding: 'utf8',
    });
  expect(ask()).toMatch(/^ --server nats:\/\/operator:.{32}@127\.0\.0\.1:4222 stream report\n$/);
  runDeployScript('createCertificates.mjs', '--folder', join(dir, 'secrets'));
  const [, authority = ''] =
    /^(\S+) --server tls:\/\/operator:.{32}@127\.0\.0\.1:4222 stream report\n$/.exec(ask()) ?? [];
  expect(readFileSync(join(dir, authority), 'utf8')).toContain('BEGIN CERTIFICATE');
});

it.each(['.gitignore', 'deploy/Containerfile.dockerignore'])(
  '%s leaves out what the commands of the pages write in deploy/: passwords, backups, settings',
  (ignoreFile) => {
    const commands = pages.map(readDeployFile).join('\n');
    const written = [...commands.matchAll(/(?:^cp -r secrets|[^-] >) ([\w.$-]+\.(?:before|tar|zip))/gm)];
    const names = new Set(written.map(([, name = '']) => name));
    expect([...names].sort()).toEqual(['2026-11-22.zip', 'nats-$n.tar', 'nats-0.tar', 'secrets.before']);
    const others = ['secrets', '.env', 'new.env', 'deployment.json'];
    const isCopied = (name: string) => !isIgnored(join(deployDir, name), ignoreFile);
    expect([...names, ...others].filter(isCopied)).toEqual([]);
    expect(isCopied('nats/nats.conf')).toBe(true);
  },
);
