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
  release: z.strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9._-]{2,127}$/, 'expected a version ID'),
    protocolRevision: z.string().regex(/^[a-z0-9][a-z0-9.-]{2,63}$/, 'expected a revision name'),
    rewardModelRevision: z.string().regex(/^[a-z0-9][a-z0-9.-]{2,63}$/, 'expected a revision name'),
  }),
  chain: z.strictObject({
    target: z.enum(['anvil', 'sepolia', 'mainnet']),
    chainId: blockNumber,
    deploymentBlock: blockNumber,
    economyDeploymentBlock: blockNumber,
  }),
  contracts: z.strictObject({
    core: address,
    proxyAdmin: address,
    operatorTimelock: address,
    tokenFactory: address,
    mining: address,
    token: address,
    collection: address,
  }),
});

const deploymentFile = z.strictObject({
  installationId,
  /** Start of round 1, Unix seconds. Buckets of 1800 s begin on the half hour, so rounds must too. */
  genesisTimestamp: z
    .int()
    .min(0)
    .refine((seconds) => seconds % bucketSeconds === 0, `expected a multiple of ${bucketSeconds} seconds`),
  streamId: bytes32,
  /** Readings above this speed, or with a distance that it does not allow, are refused. */
  maximumSpeedMmPerSecond: z.int().min(1).optional(),
  ...chainMembers.partial().shape,
});

type ChainMembers = z.infer<typeof chainMembers>;

/** A deployment: the public installation, the start of its rounds, and its contracts, if it has any. */
export interface Deployment extends Omit<z.infer<typeof deploymentFile>, keyof ChainMembers> {
  /** Null: every chain view answers `indexer_disabled`. */
  readonly onChain: ChainMembers | null;
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
  const parsed = deploymentFile.safeParse(json);
  if (!parsed.success) throw refuse(formatProblems(parsed.error));
  const { release, chain, contracts, ...installation } = parsed.data;
  if (release !== undefined && chain !== undefined && contracts !== undefined)
    return { ...installation, onChain: { release, chain, contracts } };
  const members = Object.keys(chainMembers.shape).filter((member) => member in parsed.data);
  if (members.length === 0) return { ...installation, onChain: null };
  throw refuse(`has ${members.join(' and ')}; release, chain and contracts come together`);
}

function formatProblems(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`).join('; ');
}
