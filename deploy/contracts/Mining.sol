// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Collection} from "./Collection.sol";
import {RewardToken} from "./RewardToken.sol";
import {SettlementCore} from "./SettlementCore.sol";

/// Issues the reward for completed work blocks, round by round, and shares it among positions by their weight in that
/// round. A new weight counts from the round after the one in which it was caused. Runs behind a transparent proxy.
contract Mining is Initializable {
    enum PendingSource {
        None,
        Mint,
        Merge
    }

    struct Level {
        uint256 weight;
        /// Work blocks after a merge to this level before the next one.
        uint64 cooldownBlocks;
    }

    struct Configuration {
        SettlementCore core;
        RewardToken token;
        Collection collection;
        uint256 rewardPerBlock;
        uint64 claimLimit;
        /// Level 1 first.
        Level[] levels;
    }

    struct Position {
        uint8 level;
        PendingSource pendingSource;
        uint64 pendingRound;
        uint64 nextMergeBlock;
        uint256 activeWeight;
        uint256 targetWeight;
        /// Value of `accumulatedPerWeight` through which rewards are accounted for.
        uint256 accountedPerWeight;
        /// Rewards, scaled by `SCALE`.
        uint256 unclaimed;
        uint256 earned;
    }

    uint256 public constant SCALE = 1e27;

    uint64 public immutable implementationVersion;
    bytes32 public immutable storageLayoutDigest;
    /// Where this code is, which `address(this)` does not tell behind a proxy.
    address private immutable _implementation;

    Configuration private _configuration;
    mapping(uint256 tokenId => Position) private _positions;
    uint256 public totalWeight;
    /// Reward of one unit of weight since the beginning, scaled by `SCALE`.
    uint256 public accumulatedPerWeight;
    uint256 public totalMinted;
    uint256 public totalPaid;
    uint64 public processedThroughRound;
    uint64 public closedThroughBlock;
    uint64 public lastActivationRound;
    uint256 private _nextActiveRound;
    /// Rounds at which weights change, ascending, with the change.
    uint64[] private _activationRounds;
    uint256 private _nextActivation;
    mapping(uint64 roundId => int256) private _weightChange;
    mapping(uint64 roundId => uint256) private _perWeightAtActivation;

    event MiningConfigured(
        address core,
        address token,
        address collection,
        uint256 rewardPerBlock,
        uint256 supplyCap,
        uint64 claimLimit,
        uint256[] weights,
        uint64[] cooldownBlocks
    );
    event VersionActivated(
        uint64 version, bytes32 storageLayoutDigest, address implementation, bytes32 runtimeHash
    );
    event PositionMinted(
        address indexed owner, uint256 indexed tokenId, uint256 weight, uint64 nextMergeBlock, uint64 firstRound
    );
    event PositionsMerged(
        address indexed owner,
        uint256 indexed survivorTokenId,
        uint256 indexed donorTokenId,
        uint8 level,
        uint64 nextMergeBlock,
        uint64 effectiveRound
    );
    event RewardsClaimed(address indexed owner, uint256[] tokenIds, uint256 amount);
    event WeightActivated(uint64 indexed roundId, uint256 totalWeight, uint256 accumulatedPerWeight);
    event RoundMinted(
        uint64 indexed roundId,
        uint64 completedBlockCount,
        uint256 eligibleWeight,
        uint256 amount,
        uint256 accumulatedPerWeight
    );
    event Checkpointed(
        uint64 indexed afterRound,
        uint64 indexed throughRound,
        uint64 completedBlockCount,
        uint256 cumulativeWork,
        uint256 cumulativeBlockUnits,
        uint256 eligibleWeight,
        uint256 amount,
        uint256 totalMinted
    );

    error Unauthorized(address caller);
    error InvalidConfiguration();
    error InvalidCheckpoint(uint64 throughRound);
    error NotMergeable(uint256 tokenId);
    error TooManyTokens(uint256 given);
    error UnknownPosition(uint256 tokenId);

    constructor(uint64 version, bytes32 layoutDigest) {
        implementationVersion = version;
        storageLayoutDigest = layoutDigest;
        _implementation = address(this);
        _disableInitializers();
    }

    function initialize(Configuration calldata given) external initializer {
        uint256 count = given.levels.length;
        if (count == 0 || count > 10 || given.claimLimit == 0 || given.claimLimit > 32) revert InvalidConfiguration();
        _configuration.core = given.core;
        _configuration.token = given.token;
        _configuration.collection = given.collection;
        _configuration.rewardPerBlock = given.rewardPerBlock;
        _configuration.claimLimit = given.claimLimit;
        uint256[] memory weights = new uint256[](count);
        uint64[] memory cooldowns = new uint64[](count);
        for (uint256 index; index < count; index++) {
            _configuration.levels.push(given.levels[index]);
            weights[index] = given.levels[index].weight;
            cooldowns[index] = given.levels[index].cooldownBlocks;
        }
        emit MiningConfigured(
            address(given.core),
            address(given.token),
            address(given.collection),
            given.rewardPerBlock,
            given.token.cap(),
            given.claimLimit,
            weights,
            cooldowns
        );
        _emitVersion();
    }

    /// Called by the upgrade to this implementation, so that logs tell which version runs.
    function activateVersion() external reinitializer(implementationVersion) {
        _emitVersion();
    }

    function mintPosition(address owner, uint256 tokenId) external {
        if (msg.sender != address(_configuration.collection)) revert Unauthorized(msg.sender);
        Position storage position = _positions[tokenId];
        Level storage first = _configuration.levels[0];
        position.level = 1;
        position.pendingSource = PendingSource.Mint;
        position.pendingRound = _schedule(int256(first.weight));
        position.nextMergeBlock = uint64(_configuration.core.blockHeight()) + first.cooldownBlocks;
        position.targetWeight = first.weight;
        emit PositionMinted(owner, tokenId, first.weight, position.nextMergeBlock, position.pendingRound);
    }

    /// Merges two positions of one level into the survivor, one level higher. The donor's token is burned; what it
    /// earned and has not been paid goes to the survivor, and so does its weight until the new one counts.
    function merge(uint256 survivorTokenId, uint256 donorTokenId) external {
        if (survivorTokenId == donorTokenId) revert NotMergeable(donorTokenId);
        Position memory survivor = _mergeable(survivorTokenId);
        Position memory donor = _mergeable(donorTokenId);
        if (survivor.level != donor.level || survivor.level >= _configuration.levels.length) {
            revert NotMergeable(donorTokenId);
        }
        Level storage next = _configuration.levels[survivor.level];
        survivor.level += 1;
        survivor.activeWeight += donor.activeWeight;
        survivor.unclaimed += donor.unclaimed;
        survivor.earned += donor.earned;
        survivor.targetWeight = next.weight;
        survivor.pendingSource = PendingSource.Merge;
        survivor.pendingRound = _schedule(int256(next.weight) - int256(survivor.activeWeight));
        survivor.nextMergeBlock = uint64(_configuration.core.blockHeight()) + next.cooldownBlocks;
        _positions[survivorTokenId] = survivor;
        delete _positions[donorTokenId];
        _configuration.collection.burn(donorTokenId);
        _configuration.collection.publishMetadata(survivorTokenId);
        emit PositionsMerged(
            msg.sender,
            survivorTokenId,
            donorTokenId,
            survivor.level,
            survivor.nextMergeBlock,
            survivor.pendingRound
        );
    }

    /// Pays whole base units; the rest of each position stays for the next claim.
    function claim(uint256[] calldata tokenIds) external {
        if (tokenIds.length == 0 || tokenIds.length > _configuration.claimLimit) revert TooManyTokens(tokenIds.length);
        uint256 amount;
        for (uint256 index; index < tokenIds.length; index++) {
            if (_configuration.collection.ownerOf(tokenIds[index]) != msg.sender) revert Unauthorized(msg.sender);
            Position memory position = _accounted(tokenIds[index]);
            uint256 whole = position.unclaimed / SCALE;
            position.unclaimed -= whole * SCALE;
            _positions[tokenIds[index]] = position;
            amount += whole;
        }
        totalPaid += amount;
        emit RewardsClaimed(msg.sender, tokenIds, amount);
        IERC20(address(_configuration.token)).transfer(msg.sender, amount);
    }

    /// Mints the reward of the settled rounds after the last checkpoint through `throughRound`.
    function checkpoint(uint64 throughRound) external {
        SettlementCore core = _configuration.core;
        uint64 afterRound = processedThroughRound;
        if (throughRound <= afterRound || throughRound > core.settledThroughRound()) {
            revert InvalidCheckpoint(throughRound);
        }
        uint64 blocksBefore = closedThroughBlock;
        uint256 mintedBefore = totalMinted;
        uint256 count = core.activeRoundCount();
        while (_nextActiveRound < count) {
            SettlementCore.ActiveRound memory active = core.activeRound(_nextActiveRound);
            if (active.roundId > throughRound) break;
            _activateThrough(active.roundId);
            _mintRound(active.roundId, uint64(active.cumulativeBlockUnits / core.BLOCK_UNITS_PER_BLOCK()));
            _nextActiveRound++;
        }
        _activateThrough(throughRound);
        processedThroughRound = throughRound;
        uint256 amount = totalMinted - mintedBefore;
        if (amount > 0) _configuration.token.mint(address(this), amount);
        SettlementCore.ActiveRound memory last;
        if (_nextActiveRound > 0) last = core.activeRound(_nextActiveRound - 1);
        emit Checkpointed(
            afterRound,
            throughRound,
            closedThroughBlock - blocksBefore,
            last.cumulativeWork,
            last.cumulativeBlockUnits,
            totalWeight,
            amount,
            totalMinted
        );
    }

    function configuration() external view returns (Configuration memory) {
        return _configuration;
    }

    /// A position with everything accounted for that is minted so far.
    function positionOf(uint256 tokenId) external view returns (Position memory) {
        return _accounted(tokenId);
    }

    /// Whole base units that a claim would pay now.
    function claimable(uint256 tokenId) external view returns (uint256) {
        return _accounted(tokenId).unclaimed / SCALE;
    }

    function _emitVersion() private {
        emit VersionActivated(implementationVersion, storageLayoutDigest, _implementation, _implementation.codehash);
    }

    function _mintRound(uint64 roundId, uint64 throughBlock) private {
        uint64 completed = throughBlock - closedThroughBlock;
        if (completed == 0) return;
        closedThroughBlock = throughBlock;
        uint256 amount;
        if (totalWeight > 0) {
            uint256 left = _configuration.token.cap() - totalMinted;
            amount = Math.min(completed * _configuration.rewardPerBlock, left);
            totalMinted += amount;
            accumulatedPerWeight += (amount * SCALE) / totalWeight;
        }
        emit RoundMinted(roundId, completed, totalWeight, amount, accumulatedPerWeight);
    }

    function _activateThrough(uint64 roundId) private {
        while (_nextActivation < _activationRounds.length && _activationRounds[_nextActivation] <= roundId) {
            uint64 activation = _activationRounds[_nextActivation++];
            totalWeight = uint256(int256(totalWeight) + _weightChange[activation]);
            _perWeightAtActivation[activation] = accumulatedPerWeight;
            lastActivationRound = activation;
            emit WeightActivated(activation, totalWeight, accumulatedPerWeight);
        }
    }

    /// Schedules a change of the total weight for the next round.
    function _schedule(int256 change) private returns (uint64 roundId) {
        roundId = _configuration.core.currentRound() + 1;
        uint256 count = _activationRounds.length;
        if (count == 0 || _activationRounds[count - 1] < roundId) _activationRounds.push(roundId);
        _weightChange[roundId] += change;
    }

    function _mergeable(uint256 tokenId) private view returns (Position memory position) {
        if (_configuration.collection.ownerOf(tokenId) != msg.sender) revert Unauthorized(msg.sender);
        position = _accounted(tokenId);
        bool isCooling = _configuration.core.blockHeight() < position.nextMergeBlock;
        if (position.pendingRound != 0 || isCooling) revert NotMergeable(tokenId);
    }

    function _accounted(uint256 tokenId) private view returns (Position memory position) {
        position = _positions[tokenId];
        if (position.level == 0) revert UnknownPosition(tokenId);
        uint256 rewards;
        if (position.pendingRound != 0 && position.pendingRound <= lastActivationRound) {
            uint256 atActivation = _perWeightAtActivation[position.pendingRound];
            rewards = position.activeWeight * (atActivation - position.accountedPerWeight);
            position.activeWeight = position.targetWeight;
            position.accountedPerWeight = atActivation;
            position.pendingRound = 0;
            position.pendingSource = PendingSource.None;
        }
        rewards += position.activeWeight * (accumulatedPerWeight - position.accountedPerWeight);
        position.accountedPerWeight = accumulatedPerWeight;
        position.unclaimed += rewards;
        position.earned += rewards;
    }
}
