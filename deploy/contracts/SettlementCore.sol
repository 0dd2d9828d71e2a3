// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.24;

import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

/// Accepted work, settled in batches of rounds. Runs behind a transparent proxy whose admin belongs to the operator's
/// timelock. Work becomes block units by the difficulty of its batch; every batch sets the difficulty of the next one.
contract SettlementCore is Initializable, Pausable {
    struct Configuration {
        bytes32 streamId;
        uint64 genesisTimestamp;
        uint64 roundDuration;
        uint256 maxWorkPerRound;
        /// Active rounds of one batch, at most.
        uint64 maxRoundsPerBatch;
        uint256 initialWorkPerThousandBlocks;
        uint64 targetBlocksPerActiveRound;
        uint64 difficultySmoothingRounds;
        address operator;
        address guardian;
        address reporter;
    }

    /// A settled round that held work, with the sums through it.
    struct ActiveRound {
        uint64 roundId;
        uint256 cumulativeWork;
        uint256 cumulativeBlockUnits;
    }

    uint256 public constant BLOCK_UNITS_PER_BLOCK = 1_000_000_000;
    /// One settlement changes the difficulty by at most this factor.
    uint256 public constant DIFFICULTY_FACTOR_MAX = 4;

    uint64 public immutable implementationVersion;
    bytes32 public immutable storageLayoutDigest;
    /// Where this code is, which `address(this)` does not tell behind a proxy.
    address private immutable _implementation;

    Configuration private _configuration;
    uint256 public cumulativeWork;
    uint256 public cumulativeBlockUnits;
    uint256 public workPerThousandBlocks;
    uint64 public settledThroughRound;
    uint64 public authorizationNonce;
    ActiveRound[] private _activeRounds;

    event CoreConfigured(
        bytes32 streamId,
        uint64 genesisTimestamp,
        uint64 roundDuration,
        uint256 maxWorkPerRound,
        uint64 maxRoundsPerBatch,
        uint256 initialWorkPerThousandBlocks,
        uint64 targetBlocksPerActiveRound,
        uint64 difficultySmoothingRounds,
        uint256 blockUnitsPerBlock,
        address operator,
        address guardian,
        address reporter
    );
    event VersionActivated(
        uint64 version, bytes32 storageLayoutDigest, address implementation, bytes32 runtimeHash
    );
    event GuardianChanged(address guardian);
    event ReporterChanged(address reporter);
    event RoundSettled(uint64 indexed roundId, uint256 work, uint256 cumulativeWork, uint256 cumulativeBlockUnits);
    event BatchSettled(
        uint64 indexed previousSettledThroughRound,
        uint64 indexed settledThroughRound,
        uint64 activeRoundCount,
        uint256 workAdded,
        uint256 cumulativeWork,
        uint256 cumulativeBlockUnits,
        uint256 workPerThousandBlocks,
        uint64 nonce
    );

    error Unauthorized(address caller);
    error InvalidConfiguration();
    error UnexpectedNonce(uint64 given, uint64 expected);
    error UnexpectedFrontier(uint64 given, uint64 expected);
    error RoundsOutOfOrder(uint64 roundId);
    error RoundNotEnded(uint64 roundId);
    error TooManyActiveRounds(uint256 given);
    error IneligibleWork(uint64 roundId, uint256 work);

    constructor(uint64 version, bytes32 layoutDigest) {
        implementationVersion = version;
        storageLayoutDigest = layoutDigest;
        _implementation = address(this);
        _disableInitializers();
    }

    function initialize(Configuration calldata given) external initializer {
        bool isWhole = given.roundDuration > 0 && given.genesisTimestamp % (3 * given.roundDuration) == 0
            && given.maxWorkPerRound > 0 && given.maxRoundsPerBatch > 0 && given.maxRoundsPerBatch <= 16
            && given.initialWorkPerThousandBlocks > 0 && given.targetBlocksPerActiveRound > 0
            && given.difficultySmoothingRounds > 0;
        if (!isWhole) revert InvalidConfiguration();
        _configuration = given;
        workPerThousandBlocks = given.initialWorkPerThousandBlocks;
        emit CoreConfigured(
            given.streamId,
            given.genesisTimestamp,
            given.roundDuration,
            given.maxWorkPerRound,
            given.maxRoundsPerBatch,
            given.initialWorkPerThousandBlocks,
            given.targetBlocksPerActiveRound,
            given.difficultySmoothingRounds,
            BLOCK_UNITS_PER_BLOCK,
            given.operator,
            given.guardian,
            given.reporter
        );
        _emitVersion();
    }

    /// Called by the upgrade to this implementation, so that logs tell which version runs.
    function activateVersion() external reinitializer(implementationVersion) {
        _emitVersion();
    }

    /// Settles the rounds after `previous` through `through`; those with work are given, ascending, and the others held
    /// none. A batch without an active round moves the frontier alone.
    function settle(
        uint64 previous,
        uint64 through,
        uint64[] calldata roundIds,
        uint256[] calldata works,
        uint64 nonce
    ) external whenNotPaused {
        if (msg.sender != _configuration.reporter) revert Unauthorized(msg.sender);
        if (nonce != authorizationNonce) revert UnexpectedNonce(nonce, authorizationNonce);
        if (previous != settledThroughRound) revert UnexpectedFrontier(previous, settledThroughRound);
        if (through <= previous) revert RoundsOutOfOrder(through);
        if (through >= currentRound()) revert RoundNotEnded(through);
        uint256 count = roundIds.length;
        if (count > _configuration.maxRoundsPerBatch || count != works.length) revert TooManyActiveRounds(count);

        uint64 last = previous;
        uint256 workAdded;
        for (uint256 index; index < count; index++) {
            uint64 roundId = roundIds[index];
            uint256 work = works[index];
            if (roundId <= last || roundId > through) revert RoundsOutOfOrder(roundId);
            if (work == 0 || work > _configuration.maxWorkPerRound) revert IneligibleWork(roundId, work);
            last = roundId;
            workAdded += work;
            cumulativeWork += work;
            cumulativeBlockUnits += blockUnitsOf(work, workPerThousandBlocks);
            _activeRounds.push(ActiveRound(roundId, cumulativeWork, cumulativeBlockUnits));
            emit RoundSettled(roundId, work, cumulativeWork, cumulativeBlockUnits);
        }
        settledThroughRound = through;
        authorizationNonce = nonce + 1;
        workPerThousandBlocks = nextWorkPerThousandBlocks(workPerThousandBlocks, workAdded, count);
        emit BatchSettled(
            previous,
            through,
            uint64(count),
            workAdded,
            cumulativeWork,
            cumulativeBlockUnits,
            workPerThousandBlocks,
            nonce
        );
    }

    /// Block units of the work of one round, rounded down.
    function blockUnitsOf(uint256 work, uint256 difficulty) public pure returns (uint256) {
        return (work * BLOCK_UNITS_PER_BLOCK * 1000) / difficulty;
    }

    /// The difficulty after a batch: moved from the old one towards that at which the batch's active rounds would have
    /// made the targeted blocks, by as many shares of `difficultySmoothingRounds` as the batch has active rounds.
    function nextWorkPerThousandBlocks(uint256 difficulty, uint256 workAdded, uint256 activeRounds)
        public
        view
        returns (uint256)
    {
        if (activeRounds == 0) return difficulty;
        uint256 shares = _configuration.difficultySmoothingRounds;
        uint256 moved = Math.min(activeRounds, shares);
        uint256 ideal = (workAdded * 1000) / (activeRounds * _configuration.targetBlocksPerActiveRound);
        uint256 next = (difficulty * (shares - moved) + ideal * moved) / shares;
        uint256 least = Math.max(1, difficulty / DIFFICULTY_FACTOR_MAX);
        return Math.min(Math.max(next, least), difficulty * DIFFICULTY_FACTOR_MAX);
    }

    /// The round that holds the block's time; 0 before the genesis.
    function currentRound() public view returns (uint64) {
        uint64 genesis = _configuration.genesisTimestamp;
        if (block.timestamp < genesis) return 0;
        return (uint64(block.timestamp) - genesis) / _configuration.roundDuration + 1;
    }

    function configuration() external view returns (Configuration memory) {
        return _configuration;
    }

    function blockHeight() public view returns (uint256) {
        return cumulativeBlockUnits / BLOCK_UNITS_PER_BLOCK;
    }

    function blockProgress() external view returns (uint256) {
        return cumulativeBlockUnits % BLOCK_UNITS_PER_BLOCK;
    }

    function activeRoundCount() external view returns (uint256) {
        return _activeRounds.length;
    }

    function activeRound(uint256 index) external view returns (ActiveRound memory) {
        return _activeRounds[index];
    }

    function pause() external {
        if (msg.sender != _configuration.guardian) revert Unauthorized(msg.sender);
        _pause();
    }

    function unpause() external {
        if (msg.sender != _configuration.guardian && msg.sender != _configuration.operator) {
            revert Unauthorized(msg.sender);
        }
        _unpause();
    }

    function setGuardian(address guardian) external onlyOperator {
        _configuration.guardian = guardian;
        emit GuardianChanged(guardian);
    }

    function setReporter(address reporter) external onlyOperator {
        _configuration.reporter = reporter;
        emit ReporterChanged(reporter);
    }

    function _emitVersion() private {
        emit VersionActivated(implementationVersion, storageLayoutDigest, _implementation, _implementation.codehash);
    }

    modifier onlyOperator() {
        if (msg.sender != _configuration.operator) revert Unauthorized(msg.sender);
        _;
    }
}
