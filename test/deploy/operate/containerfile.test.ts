import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { containerInstructions, copiedPaths, deployDir, readDeployFile, root } from './deployFiles.ts';

const text = readDeployFile('Containerfile');

describe('Containerfile', () => {
  it('passes its linter', () => {
    const linter = join(root, 'node_modules/dockerfilelint/bin/dockerfilelint');
    const report = execFileSync(process.execPath, [
      linter,
      '--output',
      'json',
      join(deployDir, 'Containerfile'),
    ]);
    expect(JSON.parse(report.toString())).toMatchObject({ totalIssues: 0 });
  });

  it('has one version of Node, of the major version in .nvmrc', () => {
    const image = 'docker.io/library/node:$NODE';
    const images = containerInstructions.filter((line) => line.startsWith('FROM'));
    expect(images).toEqual([`FROM ${image} AS build`, `FROM ${image}`]);
    const major = readFileSync(join(root, '.nvmrc'), 'utf8').trim();
    expect(containerInstructions[0]).toMatch(new RegExp(`^ARG NODE=${major}\\.\\d+\\.\\d+-trixie-slim$`));
  });

  it('copies existing files that the ignore file lets through', () => {
    const ignore = readDeployFile('Containerfile.dockerignore').split('\n');
    expect(ignore).toContain('*');
    expect(
      ignore
        .filter((line) => line.startsWith('!'))
        .map((line) => line.slice(1))
        .sort(),
    ).toEqual(copiedPaths.filter((path) => !copiedPaths.includes(dirname(path))).sort());
    for (const path of copiedPaths) expect(existsSync(join(root, path))).toBe(true);
  });

  it('installs by the tested steps, and runs node as process 1, without root', () => {
    expect(text).toContain('node deploy/productionInstall.mjs /app');
    const last = containerInstructions.slice(
      containerInstructions.findLastIndex((line) => line.startsWith('FROM')),
    );
    expect(last).toContain('USER 1000:1000');
    expect(last).toContain('ENTRYPOINT ["node", "--enable-source-maps", "dist/deploy/miner.js"]');
    expect(last.join('\n')).toMatch(/NODE_ENV=production/);
    expect(last.join('\n')).not.toMatch(/npm|RUN/);
  });
});
