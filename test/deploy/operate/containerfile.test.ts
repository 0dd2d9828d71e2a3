import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { containerInstructions, copiedPaths, readDeployFile, root } from './deployFiles.ts';

describe('Containerfile', () => {
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

  it('has the packages of production alone, and runs node as process 1, without root', () => {
    const [, , installs] = containerInstructions.filter((line) => line.startsWith('RUN '));
    expect(installs).toContain('--omit=dev --omit=optional');
    const last = containerInstructions.slice(
      containerInstructions.findLastIndex((line) => line.startsWith('FROM')),
    );
    expect(last).toContain('USER 1000:1000');
    expect(last.join('\n')).not.toMatch(/npm|RUN/);
  });
});
