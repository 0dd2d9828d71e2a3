import { type AbiEvent, parseAbi, toEventSelector } from 'viem';

/** Events from the contracts' sources that change a quantity. */

const version =
  'event VersionActivated(uint64 version, bytes32 storageLayoutDigest, address implementation, bytes32 runtimeHash)';
const pausable = ['event Paused(address account)', 'event Unpaused(address account)'] as const;

const contractEvents = {
  core: parseAbi([
    ...pausable,
    version,
    'event CoreConfigured(bytes32 streamId, uint64 genesisTimestamp, uint64 roundDuration, uint256 maxWorkPerRound, uint64 maxRoundsPerBatch, uint256 initialWorkPerThousandBlocks, uint64 targetBlocksPerActiveRound, uint64 difficultySmoothingRounds, uint256 blockUnitsPerBlock, address operator, address guardian, address reporter)',
    'event RoundSettled(uint64 indexed roundId, uint256 work, uint256 cumulativeWork, uint256 cumulativeBlockUnits)',
    'event BatchSettled(uint64 indexed previousSettledThroughRound, uint64 indexed settledThroughRound, uint64 activeRoundCount, uint256 workAdded, uint256 cumulativeWork, uint256 cumulativeBlockUnits, uint256 workPerThousandBlocks, uint64 nonce)',
  ]),
  operatorTimelock: parseAbi([
    'event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)',
  ]),
  tokenFactory: parseAbi([
    'event TokenCreated(address indexed token, address indexed minter, string name, string symbol, uint8 decimals, uint256 cap)',
  ]),
  mining: parseAbi([
    version,
    'event MiningConfigured(address core, address token, address collection, uint256 rewardPerBlock, uint256 supplyCap, uint64 claimLimit, uint256[] weights, uint64[] cooldownBlocks)',
    'event PositionMinted(address indexed owner, uint256 indexed tokenId, uint256 weight, uint64 nextMergeBlock, uint64 firstRound)',
    'event PositionsMerged(address indexed owner, uint256 indexed survivorTokenId, uint256 indexed donorTokenId, uint8 level, uint64 nextMergeBlock, uint64 effectiveRound)',
    'event RewardsClaimed(address indexed owner, uint256[] tokenIds, uint256 amount)',
    'event WeightActivated(uint64 indexed roundId, uint256 totalWeight, uint256 accumulatedPerWeight)',
    'event RoundMinted(uint64 indexed roundId, uint64 completedBlockCount, uint256 eligibleWeight, uint256 amount, uint256 accumulatedPerWeight)',
    'event Checkpointed(uint64 indexed afterRound, uint64 indexed throughRound, uint64 completedBlockCount, uint256 cumulativeWork, uint256 cumulativeBlockUnits, uint256 eligibleWeight, uint256 amount, uint256 totalMinted)',
  ]),
  token: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
  collection: parseAbi([
    ...pausable,
    'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
    'event SaleConfigured(uint64 allowlistStart, uint64 allowlistEnd, uint256 publicPrice, uint64 publicAllocation, uint64 protocolReserve)',
    'event SaleClosed()',
    'event PublicMinted(address indexed owner, uint64 quantity, uint64 publicMinted)',
    'event ReserveMinted(address indexed owner, uint64 quantity, uint64 reserveMinted)',
  ]),
} as const;

export type ContractName = keyof typeof contractEvents;

/** Declarations by contract and first topic. viem alone would hash every declaration for each log. */
export const declarations: ReadonlyMap<string, AbiEvent> = new Map(
  Object.entries(contractEvents).flatMap(([contract, events]) =>
    events.map((event) => [`${contract} ${toEventSelector(event)}`, event]),
  ),
);
