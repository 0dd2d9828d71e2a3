import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../../actors/operatorError.ts';
import { dayMs } from '../../actors/schemas/durations.ts';
import { bucketMs } from '../../actors/wheel/roundFold.ts';
import { createPrivateDirectory } from '../../storage/clickhouse/privateDirectory.ts';
import { type Deployment, readDeploymentFile } from '../configuration/deploymentFile.ts';
import { deployContracts } from './deployContracts.ts';
import { createLocalChainClient, type LocalAccounts, type LocalChainClient } from './localChainClient.ts';
import { simulatedSpeedMax } from './simulatedWheel.ts';

const tokenUnit = 10n ** 18n;

/** The stored parameters of the simulation, so that the next start continues with the same one. */
const simulationFile = z.object({
  seed: z.string(),
  pastFromMs: z.int(),
  pastUntilMs: z.int(),
  installationId: z.string(),
  /** Unix seconds. */
  genesisTimestamp: z.int(),
  streamId: z.templateLiteral(['0x', z.string()]),
});
export type Simulation = Readonly<z.infer<typeof simulationFile>>;

export function loadSimulation(dataDir: string, nowMs: number, pastDays: number): Simulation {
  createPrivateDirectory(dataDir);
  const path = join(dataDir, 'simulation.json');
  if (existsSync(path)) return simulationFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  const pastFromMs = nowMs - pastDays * dayMs;
  const simulation: Simulation = {
    seed: randomBytes(8).toString('hex'),
    pastFromMs,
    pastUntilMs: nowMs,
    installationId: 'wheel.local',
    genesisTimestamp: (Math.floor(pastFromMs / bucketMs) * bucketMs) / 1000,
    streamId: `0x${randomBytes(32).toString('hex')}`,
  };
  writeAtomically(path, simulation);
  return simulation;
}

interface LocalDeploymentOptions {
  readonly dataDir: string;
  readonly simulation: Simulation;
  readonly url: string;
  readonly accounts: LocalAccounts;
}

/**
 * Loads the deployment of a data folder. Deploys the contracts if the folder has none yet.
 *
 * @throws OperatorError if the local chain lacks the deployment's contracts.
 */
export async function loadDeployment(options: LocalDeploymentOptions): Promise<Deployment> {
  const { dataDir, url } = options;
  const path = join(dataDir, 'deployment.json');
  const client = createLocalChainClient(url);
  if (!existsSync(path)) writeAtomically(path, await deployEconomy(client, options));
  const deployment = readDeploymentFile(path);
  const core = deployment.onChain?.contracts.core;
  if (core === undefined || (await client.getCode({ address: core })) === undefined) {
    throw new OperatorError(
      `${path} names contracts that the local chain does not have; remove ${dataDir} to start over`,
    );
  }
  return deployment;
}

async function deployEconomy(
  client: LocalChainClient,
  { url, simulation, accounts }: LocalDeploymentOptions,
): Promise<object> {
  let seconds = Number((await client.getBlock()).timestamp);
  const { operator, guardian, reporter } = accounts;
  const deployed = await deployContracts({
    // viem's types can give a client an account only at its creation.
    client: Object.assign(createLocalChainClient(url), {
      account: { address: operator, type: 'json-rpc' },
    }) as never,
    settings: {
      streamId: simulation.streamId,
      genesisTimestamp: BigInt(simulation.genesisTimestamp),
      maxWorkPerRound: 1_000_000n,
      initialWorkPerThousandBlocks: 400_000n,
      targetBlocksPerActiveRound: 2n,
      difficultySmoothingRounds: 144n,
      guardian,
      reporter,
      timelockDelaySeconds: 3_600n,
      tokenSymbol: 'SQK',
      supplyCap: 21_000_000n * tokenUnit,
      rewardPerBlock: 50n * tokenUnit,
      claimLimit: 32n,
      levels: Array.from({ length: 10 }, (_, index) => ({
        // Each level is worth a little more than the two positions that were merged into it.
        weight: BigInt(Math.round(1_000 * 2.1 ** index)),
        cooldownBlocks: BigInt(4 * index),
      })),
    },
    mine: async () => {
      seconds++;
      await client.setNextBlockTimestamp({ timestamp: BigInt(seconds) });
      await client.mine({ blocks: 1 });
    },
  });
  const { installationId, genesisTimestamp, streamId } = simulation;
  return {
    installationId,
    genesisTimestamp,
    streamId,
    maximumSpeedMmPerSecond: simulatedSpeedMax,
    release: { id: 'local-1', protocolRevision: 'protocol-1', rewardModelRevision: 'rewards-1' },
    chain: {
      target: 'anvil',
      chainId: await client.getChainId(),
      deploymentBlock: deployed.deploymentBlock.toString(),
      economyDeploymentBlock: deployed.economyDeploymentBlock.toString(),
    },
    contracts: deployed.contracts,
  };
}

/** A kill at any point leaves either the old file or the new one. */
function writeAtomically(path: string, content: object) {
  writeFileSync(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}
