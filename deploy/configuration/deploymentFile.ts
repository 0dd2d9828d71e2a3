import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { OperatorError } from '../../actors/operatorError.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { address, bytes32, installationId } from '../../actors/schemas/wireScalars.ts';
import { bucketSeconds } from '../../actors/wheel/roundFold.ts';

const blockNumber = z
  .union([z.int().min(0), z.string().regex(/^(?:0|[1-9]\d{0,19})$/)], 'expected a block number')
  .transform(BigInt);

const chainMembers = z.object({
  release: z.object({
    id: z.string().regex(/^[a-z0-9][a-z0-9._-]{2,127}$/, 'expected a version ID'),
    protocolRevision: z.string().regex(/^[a-z0-9][a-z0-9.-]{2,63}$/, 'expected a revision name'),
    rewardModelRevision: z.string().regex(/^[a-z0-9][a-z0-9.-]{2,63}$/, 'expected a revision name'),
  }),
  chain: z.object({
    target: z.enum(['anvil', 'sepolia', 'mainnet']),
    chainId: blockNumber,
    deploymentBlock: blockNumber,
    economyDeploymentBlock: blockNumber,
  }),
  contracts: z.object({
    core: address,
    proxyAdmin: address,
    operatorTimelock: address,
    tokenFactory: address,
    mining: address,
    token: address,
    collection: address,
  }),
});

const installationMembers = z.object({
  installationId,
  /** Start of round 1, Unix seconds. Buckets of 1800 s begin on the half hour, so rounds must too. */
  genesisTimestamp: z
    .int()
    .min(0)
    .refine((seconds) => seconds % bucketSeconds === 0, `expected a multiple of ${bucketSeconds} seconds`),
  streamId: bytes32,
  /** Readings above this speed, or with a distance that it does not allow, are refused. */
  maximumSpeedMmPerSecond: z.int().min(1).optional(),
});

/** A deployment: the public installation, the start of its rounds, and its contracts, if it has any. */
export interface Deployment extends z.infer<typeof installationMembers> {
  /** Null: every chain view answers `indexer_disabled`. */
  readonly onChain: z.infer<typeof chainMembers> | null;
}

/** @throws OperatorError if it cannot be read, or is not one. */
export function readDeploymentFile(path: string): Deployment {
  const refuse = (problem: string) =>
    new OperatorError(`deployment file ${path} (MINER_DEPLOYMENT): ${problem}`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw refuse(`cannot be read (${readErrorMessage(error)})`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw refuse(`is not JSON: ${readErrorMessage(error)}`);
  }
  const installation = installationMembers.safeParse(json);
  if (!installation.success) throw refuse(formatProblems(installation.error));
  // An object, since it passed the schema of one.
  const members = ['release', 'chain', 'contracts'].filter((member) => member in (json as object));
  if (members.length === 0) return { ...installation.data, onChain: null };
  if (members.length < 3) {
    throw refuse(`has ${members.join(' and ')}; release, chain and contracts come together`);
  }
  const chain = chainMembers.safeParse(json);
  if (!chain.success) throw refuse(formatProblems(chain.error));
  return { ...installation.data, onChain: chain.data };
}

function formatProblems(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`).join('; ');
}
