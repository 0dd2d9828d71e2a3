import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { streamNames } from '../../../actors/messages/subjects.ts';
import { variables } from '../../../deploy/configuration/configuration.ts';
import { createSecrets } from '../../support/processes/createSecrets.ts';
import { temporaryDirectory } from '../../support/processes/lifetime.ts';
import { runTlsCommands } from '../../support/processes/shippedNats.ts';
import { commandNames, deployDir, isIgnored, readDeployFile } from './deployFiles.ts';
import { findMetrics, knownMetrics } from './knownMetrics.ts';

const pages = ['RUNBOOK.md', 'RUNNING.md'];

describe.each(pages)('%s', (page) => {
  const text = readDeployFile(page);

  it('gives commands that a shell understands', () => {
    const script = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block).join('\n');
    const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('gives commands, options, variables and metrics that the service has', () => {
    const given = [...text.matchAll(/(?:(?:^|`)miner|miner\.js) ([a-z-]+)((?: +(?:--)?[\w./:-]+)*)/gm)];
    expect(given.length).toBeGreaterThan(0);
    expect(given.map(([, name = '']) => name).filter((name) => !commandNames().includes(name))).toEqual([]);
    const source = readDeployFile('miner.ts');
    const options = given.flatMap(([, , rest = '']) => rest.match(/--[a-z-]+/g) ?? []);
    expect(options.filter((option) => !source.includes(`'${option}`))).toEqual([]);

    const named = text.match(/\bMINER_[A-Z]+(?:_[A-Z]+)*\b/g) ?? [];
    const streams: ReadonlySet<string> = new Set(streamNames);
    expect(named.filter((name) => !(name in variables) && !streams.has(name))).toEqual([]);
    const known = knownMetrics();
    expect(findMetrics(text).filter((name) => !known.has(name))).toEqual([]);
  });
});

it('operator.sh asks NATS through this machine, with the authority if it has a certificate', () => {
  const dir = temporaryDirectory();
  writeFileSync(join(dir, 'nats'), '#!/bin/sh\necho "$NATS_CA $@"\n', { mode: 0o755 });
  createSecrets(join(dir, 'secrets'));
  const ask = () =>
    execFileSync('bash', ['--norc', '-c', `. ${join(deployDir, 'operator.sh')}\nnats stream report`], {
      cwd: dir,
      env: { PATH: `${dir}:${process.env.PATH}` },
      encoding: 'utf8',
    });
  expect(ask()).toMatch(/^ --server nats:\/\/operator:.{32}@127\.0\.0\.1:4222 stream report\n$/);
  runTlsCommands(1, dir);
  const [, authority = ''] =
    /^(\S+) --server tls:\/\/operator:.{32}@127\.0\.0\.1:4222 stream report\n$/.exec(ask()) ?? [];
  expect(readFileSync(join(dir, authority), 'utf8')).toContain('BEGIN CERTIFICATE');
});

it.each(['.gitignore', 'deploy/Containerfile.dockerignore'])(
  '%s leaves out what the commands of the pages write in deploy/: passwords, backups, settings',
  (ignoreFile) => {
    const written = [
      'secrets',
      'secrets.before',
      '.env',
      'new.env',
      'deployment.json',
      'nats.tar',
      '2026-11-22.zip',
    ];
    const isCopied = (name: string) => !isIgnored(join(deployDir, name), ignoreFile);
    expect(written.filter(isCopied)).toEqual([]);
    expect(isCopied('nats/nats.conf')).toBe(true);
  },
);
