import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bucketSeconds } from '../actors/activityFold.ts';
import { type Deployment, readDeploymentFile } from './deploymentFile.ts';

/** What the local stack keeps of its simulation, so that the next start goes on with the same one. */
export interface Simulation {
  readonly seed: string;
  readonly pastFromMs: number;
  readonly pastUntilMs: number;
}

export interface LocalDeployment {
  readonly deployment: Deployment;
  readonly simulation: Simulation;
}

/** Reads the local deployment of a data folder, or makes one whose simulated past ends now. */
export function localDeployment(dataDir: string, nowMs: number, pastDays: number): LocalDeployment {
  mkdirSync(dataDir, { recursive: true });
  const deploymentPath = join(dataDir, 'deployment.json');
  const simulationPath = join(dataDir, 'simulation.json');
  if (!existsSync(simulationPath)) {
    const pastFromMs = nowMs - pastDays * 86_400_000;
    const bucketMs = bucketSeconds * 1000;
    const deployment = {
      installationId: 'wheel.local',
      genesisTimestamp: (Math.floor(pastFromMs / bucketMs) * bucketMs) / 1000,
      streamId: `0x${randomBytes(32).toString('hex')}`,
    };
    const simulation: Simulation = { seed: randomBytes(8).toString('hex'), pastFromMs, pastUntilMs: nowMs };
    writeWhole(deploymentPath, deployment);
    writeWhole(simulationPath, simulation); // Last: with it, both are there.
  }
  const simulation = JSON.parse(readFileSync(simulationPath, 'utf8')) as Simulation;
  return { deployment: readDeploymentFile(deploymentPath), simulation };
}

/** A kill in the middle leaves the old file or the new one, and no half. */
function writeWhole(path: string, content: object) {
  writeFileSync(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}
