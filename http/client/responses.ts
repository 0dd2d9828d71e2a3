// Made from the schemas of the routes by `npm run tables`; not edited by hand.

export type ProcessBuilder =
  | {
      /** The data is there */
      status: 'available';
      /** The settled frontier that the projection begins with */
      anchor: {
        /** Last round that is settled */
        settledThroughRound: bigint;
        /** All work through this point, in work units */
        cumulativeWork: bigint;
        /** Work blocks completed through this point */
        blockHeight: bigint;
        /** Work into the next block; below workPerBlock */
        currentWork: bigint;
        /** Above zero */
        workPerBlock: bigint;
        /** Time of the block that holds the settlement; null before the first */
        confirmedAt: string | null;
        /** Transaction of the settlement; null before the first */
        transactionHash: string | null;
      };
      /** What waits above it */
      queued: {
        /** Closed rounds above the settled frontier */
        closedRoundCount: bigint;
        /** Their work, in work units */
        closedWorkUnits: bigint;
        /** Work of the rounds that are measured and not closed yet, in work units */
        openRoundWorkUnits: bigint;
      };
      projected: PublicProjected;
    }
  | {
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing can be projected: no reading, a counter fault, a counter epoch or closed rounds that the oracle owes, a gap, or a round with more work than the core takes */
      reason:
        | 'no_measurement'
        | 'counter_fault'
        | 'counter_epoch_unapproved'
        | 'oracle_head_unavailable'
        | 'round_projection_gap';
    };
export type ProcessQueue =
  | {
      /** The data is there */
      status: 'available';
      /** What the queue is doing: the first that holds of blocked, disabled, stale, a submission under way, empty, ready */
      state: 'disabled' | 'empty' | 'ready' | 'preparing' | 'submitted' | 'retrying' | 'blocked' | 'stale';
      /** Whether settlement is switched on */
      settlementEnabled: boolean;
      /** Whether the reporter’s environment allows it to send */
      reporterEnvironmentEnabled: boolean;
      /** Closed rounds above the settled frontier */
      buffered: {
        /** First of them; null without any */
        firstRound: bigint | null;
        /** Last of them; null without any */
        lastRound: bigint | null;
        /** How many they are */
        roundCount: bigint;
        /** How many of them have work */
        activeRoundCount: bigint;
        /** Their work, in work units */
        workUnits: bigint;
      };
      projected: PublicProjected;
      /** Whether the reporter has an open incident: nothing is settled meanwhile */
      incidentOpen: boolean;
      /** Why the queue is blocked; null when it is not */
      blockedReason: ('incident_open' | 'oracle_blocked' | 'settlement_paused') | null;
      /** The last completed run of the reporter; null before the first */
      lastRun: {
        /** When it began */
        startedAt: string;
        /** When it ended */
        finishedAt: string;
        /** How it ended, in the reporter’s word */
        result: string;
      } | null;
      /** The submission under way, or the last one that ended; null before the first */
      latestSubmission: {
        /** Names the submission */
        submissionId: string;
        /** How far it has come; `confirmed`, `reverted` and `superseded` are ends */
        lifecycle: 'preparing' | 'submitted' | 'retrying' | 'confirmed' | 'reverted' | 'superseded';
        /** Last round that was settled before it */
        previousSettledThroughRound: bigint;
        /** Last round that it settles */
        settledThroughRound: bigint;
        /** How many rounds it settles */
        roundCount: bigint;
        /** How many of them have work, from 0 to 16 */
        activeRoundCount: bigint;
        /** Where the settled frontier is once it is confirmed */
        expected: {
          /** Last round that is settled */
          settledThroughRound: bigint;
          /** All work through this point, in work units */
          cumulativeWork: bigint;
          /** Work blocks completed through this point */
          blockHeight: bigint;
          /** Work into the next block; below workPerBlock */
          currentWork: bigint;
          /** Above zero */
          workPerBlock: bigint;
          /** Time of the block that holds the settlement; null before the first */
          confirmedAt: string | null;
          /** Transaction of the settlement; null before the first */
          transactionHash: string | null;
          /** First work block that is completed; null when none is */
          firstCompletedBlock: bigint | null;
          /** Last one; null when none is completed */
          lastCompletedBlock: bigint | null;
          /** How many work blocks are completed */
          completedBlockCount: bigint;
        };
        /** Its transaction; null before it was submitted */
        transactionHash: string | null;
        /** When the reporter prepared it */
        createdAt: string;
        /** When its transaction was sent; null before */
        submittedAt: string | null;
        /** When it was confirmed; null otherwise */
        confirmedAt: string | null;
        /** When it ended; null before */
        terminalAt: string | null;
        /** When its lifecycle last changed */
        changedAt: string;
        /** `reverted` or `superseded` for these ends; null otherwise */
        outcomeCode: string | null;
      } | null;
    }
  | {
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why the queue cannot be shown: the oracle has closed no round, closed rounds leave a gap, or one has more work than the core takes */
      reason: 'oracle_head_unavailable' | 'round_projection_gap' | 'round_ineligible';
    };
export type Builder =
  | {
      /** The data is there */
      status: 'available';
      /** The settled frontier that the projection begins with */
      anchor: {
        /** Last round that is settled */
        settledThroughRound: bigint;
        /** All work through this point, in work units */
        cumulativeWork: bigint;
        /** All block units through this point; 1,000,000,000 are one work block */
        cumulativeBlockUnits: bigint;
        /** Work blocks completed through this point */
        blockHeight: bigint;
        /** Block units into the next work block, below 1,000,000,000 */
        blockProgress: bigint;
        /** Difficulty: work units for 1,000 work blocks */
        workPerThousandBlocks: bigint;
        /** Time of the block that holds the settlement; null before the first */
        confirmedAt: string | null;
        /** Transaction of the settlement; null before the first */
        transactionHash: string | null;
      };
      /** What waits above it */
      queued: {
        /** Closed rounds above the settled frontier */
        closedRoundCount: bigint;
        /** Their work, in work units */
        closedWorkUnits: bigint;
        /** Work of the rounds that are measured and not closed yet, in work units */
        openRoundWorkUnits: bigint;
      };
      projected: Projected;
    }
  | {
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing can be projected: no reading, a counter fault, a counter epoch or closed rounds that the oracle owes, a gap, or a round with more work than the core takes */
      reason:
        | 'no_measurement'
        | 'counter_fault'
        | 'counter_epoch_unapproved'
        | 'oracle_head_unavailable'
        | 'round_projection_gap'
        | 'round_ineligible';
    };
export type SettlementQueue =
  | {
      /** The data is there */
      status: 'available';
      /** What the queue is doing: the first that holds of blocked, disabled, stale, a submission under way, empty, ready */
      state: 'disabled' | 'empty' | 'ready' | 'preparing' | 'submitted' | 'retrying' | 'blocked' | 'stale';
      /** Whether settlement is switched on */
      settlementEnabled: boolean;
      /** Whether the reporter’s environment allows it to send */
      reporterEnvironmentEnabled: boolean;
      /** Closed rounds above the settled frontier */
      buffered: {
        /** First of them; null without any */
        firstRound: bigint | null;
        /** Last of them; null without any */
        lastRound: bigint | null;
        /** How many they are */
        roundCount: bigint;
        /** How many of them have work */
        activeRoundCount: bigint;
        /** Their work, in work units */
        workUnits: bigint;
      };
      projected: Projected;
      /** Whether the reporter has an open incident: nothing is settled meanwhile */
      incidentOpen: boolean;
      /** Why the queue is blocked; null when it is not */
      blockedReason: ('incident_open' | 'oracle_blocked' | 'settlement_paused') | null;
      /** The last completed run of the reporter; null before the first */
      lastRun: {
        /** When it began */
        startedAt: string;
        /** When it ended */
        finishedAt: string;
        /** How it ended, in the reporter’s word */
        result: string;
      } | null;
      /** The submission under way, or the last one that ended; null before the first */
      latestSubmission: {
        /** Names the submission */
        submissionId: string;
        /** How far it has come; `confirmed`, `reverted` and `superseded` are ends */
        lifecycle: 'preparing' | 'submitted' | 'retrying' | 'confirmed' | 'reverted' | 'superseded';
        /** Last round that was settled before it */
        previousSettledThroughRound: bigint;
        /** Last round that it settles */
        settledThroughRound: bigint;
        /** How many rounds it settles */
        roundCount: bigint;
        /** How many of them have work, from 0 to 16 */
        activeRoundCount: bigint;
        /** Where the settled frontier is once it is confirmed */
        expected: {
          /** Last round that is settled */
          settledThroughRound: bigint;
          /** All work through this point, in work units */
          cumulativeWork: bigint;
          /** All block units through this point; 1,000,000,000 are one work block */
          cumulativeBlockUnits: bigint;
          /** Work blocks completed through this point */
          blockHeight: bigint;
          /** Block units into the next work block, below 1,000,000,000 */
          blockProgress: bigint;
          /** Difficulty: work units for 1,000 work blocks */
          workPerThousandBlocks: bigint;
          /** Time of the block that holds the settlement; null before the first */
          confirmedAt: string | null;
          /** Transaction of the settlement; null before the first */
          transactionHash: string | null;
          /** First work block that is completed; null when none is */
          firstCompletedBlock: bigint | null;
          /** Last one; null when none is completed */
          lastCompletedBlock: bigint | null;
          /** How many work blocks are completed */
          completedBlockCount: bigint;
        };
        /** Its transaction; null before it was submitted */
        transactionHash: string | null;
        /** When the reporter prepared it */
        createdAt: string;
        /** When its transaction was sent; null before */
        submittedAt: string | null;
        /** When it was confirmed; null otherwise */
        confirmedAt: string | null;
        /** When it ended; null before */
        terminalAt: string | null;
        /** When its lifecycle last changed */
        changedAt: string;
        /** `reverted` or `superseded` for these ends; null otherwise */
        outcomeCode: string | null;
      } | null;
    }
  | {
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why the queue cannot be shown: the oracle has closed no round, closed rounds leave a gap, or one has more work than the core takes */
      reason: 'oracle_head_unavailable' | 'round_projection_gap' | 'round_ineligible';
    };
/**
 * Core state at the safe block
 *
 */
export type CoreState =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      chain: ChainBrief;
      /** Addresses of the core and of those that may change it */
      identities: {
        /** The core: its proxy, which has this address for good */
        core: string;
        /** Contract that may replace the code behind the proxy */
        proxyAdmin: string;
        /** Who may tell it to */
        proxyAdminOwner: string;
        /** Contract through which operations are delayed */
        operatorTimelock: string;
        /** Who may propose operations to it */
        operatorProposer: string;
        /** Code behind the proxy */
        proxyImplementation: string;
        /** Administrator that the proxy itself names */
        proxyAdminSlot: string;
      };
      /** What the core was configured with */
      configuration: {
        /** Names the stream of work that is settled */
        streamId: string;
        /** Start of round 1 in Unix seconds */
        genesisTimestamp: bigint;
        /** Length of a round in seconds */
        roundDuration: bigint;
        /** Most work that a round may have, in work units */
        maxWorkPerRound: bigint;
        /** Most rounds with work that a batch may have */
        maxRoundsPerBatch: bigint;
        /** Difficulty of the first batch: work units for 1,000 work blocks */
        initialWorkPerThousandBlocks: bigint;
        /** Work blocks that an active round is meant to complete; difficulty follows from it */
        targetBlocksPerActiveRound: bigint;
        /** Active rounds over which difficulty is smoothed */
        difficultySmoothingRounds: bigint;
        /** Block units of one work block */
        blockUnitsPerBlock: bigint;
        /** Who may pause the core */
        guardian: string;
        /** Who may settle */
        reporter: string;
      };
      /** What it has recorded */
      core: {
        /** All settled work, in work units */
        cumulativeWork: bigint;
        /** All settled block units; 1,000,000,000 are one work block */
        cumulativeBlockUnits: bigint;
        /** Completed work blocks */
        blockHeight: bigint;
        /** Block units into the next block, out of 1,000,000,000 */
        blockProgress: bigint;
        /** Difficulty of the next batch: work units for 1,000 work blocks */
        workPerThousandBlocks: bigint;
        /** Last round that is settled */
        settledThroughRound: bigint;
        /** Nonce that the next authorization of the reporter has */
        authorizationNonce: bigint;
        /** Whether the guardian has paused it: nothing is settled meanwhile */
        paused: boolean;
      };
      /** The code behind the proxy */
      implementation: {
        /** Its address */
        codeAddress: string;
        /** Version that it says it has */
        codeVersion: bigint;
        /** Digest of its storage layout */
        storageLayoutDigest: string;
        /** Hash of its bytecode */
        runtimeHash: string;
      };
      /** The latest timelock operation; null before the first */
      governance: {
        /** Names the operation in the timelock */
        operationId: string;
        /** What it does: `upgrade` or `call` */
        operationKind: string;
        /** `scheduled`, `ready` once its delay has passed at the safe block, `executed` or `cancelled` */
        operationState: string;
      } | null;
      /** The event that this state was last read from */
      source: {
        /** Name of the event in the contract */
        eventName: string;
        /** Number of the block of the chain that holds the event */
        blockNumber: bigint;
        /** Hash of that block */
        blockHash: string;
        /** Time of that block in Unix seconds */
        blockTimestamp: bigint;
        /** Hash of the transaction */
        transactionHash: string;
        /** Place of the transaction in its block, from 0 */
        transactionIndex: number;
        /** Place of the event’s log in its block, from 0 */
        logIndex: number;
      };
      /**
       * The newest 25 of core, proxy admin and timelock, newest first
       *
       * @maxItems 25
       */
      events: CoreEvent[];
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
    };
/**
 * Settlement history of the plain route
 *
 */
export type SettlementHistory =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** The range of the request */
      range: 'now' | '24h' | '7d' | '30d';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      chain: ChainBrief;
      /** What the range covers; null for `now`, which is all of the history */
      window: {
        /** Its start, which belongs to it */
        startAt: string;
        /** Its end, which does not */
        endAt: string;
        /** Length of a bucket in seconds */
        bucketSeconds: 3600 | 21600 | 86400;
      } | null;
      /** Sums of the window */
      summary: {
        /** Settled batches */
        settlementCount: bigint;
        /** Rounds with work in them */
        activeRoundCount: bigint;
        /** Their work, in work units */
        workAdded: bigint;
        /** Work blocks that they completed */
        completedBlockCount: bigint;
        /** Settlements since the deployment, whatever the range */
        archivedSettlementCount: bigint;
      };
      /**
       * The newest 10 of the window that completed a work block, newest first
       *
       * @maxItems 10
       */
      recentSettlements: Settlement[];
      /** Parts of the window, oldest first; one without settlements has zeros */
      buckets: SettlementBucket[];
      mining: SettlementMining;
      /**
       * For `now` alone, where issuance is available: the newest 42 rounds that were minted for
       *
       * @maxItems 42
       */
      recentRounds?: {
        /** Number of the round */
        roundId: bigint;
        /** End of the round */
        endAt: string;
        /** Reward token minted for it, in base units */
        sqkMintedBaseUnits: bigint;
      }[];
      /** For the other ranges, where issuance is available: the window before this one */
      previousPeriod?: {
        /** Its start, which belongs to it */
        startAt: string;
        /** Its end, which does not */
        endAt: string;
        /** Reward token minted in it, in base units */
        sqkMintedBaseUnits: bigint;
      };
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
    };
export type SettlementMining =
  | {
      /** The data is there */
      status: 'available';
      /** The contracts of the reward */
      economy: {
        /** Names the release of the contracts */
        releaseId: string;
        /** Contract that mints and pays rewards */
        mining: string;
        /** Contract of the reward token */
        token: string;
        /** Ticker of the token */
        symbol: string;
        /** Decimals of the token */
        decimals: number;
      };
      /** Reward for a completed work block, in base units */
      rewardPerBlock: bigint;
      /** Most that will ever be minted, in base units */
      supplyCap: bigint;
      /** All that was minted, in base units */
      totalMintedBaseUnits: bigint;
      /** What the cap leaves, in base units */
      unmintedCapacityBaseUnits: bigint;
      /** Last round that a checkpoint has minted for */
      processedThroughRound: bigint;
      /** Minted in the range, in base units */
      rangeMintedBaseUnits: bigint;
      /** Checkpoints in the range */
      rangeCheckpointCount: bigint;
      /** What a checkpoint through all settled rounds would mint now */
      nextRound: {
        /** `ready` once the next round is settled, `accruing` until then */
        state: 'accruing' | 'ready';
        /** The first round that no checkpoint has minted for */
        round: bigint;
        /** Last round that the amount counts: the settled frontier, or the last processed round where that is later */
        countedThroughRound: bigint;
        /** Start of `round` */
        startsAt: string;
        /** End of `round` */
        endsAt: string;
        /** All settled block units before `round` */
        previousCumulativeBlockUnits: bigint;
        /** All settled block units through `countedThroughRound` */
        cumulativeBlockUnits: bigint;
        /** Work blocks that a checkpoint would mint for */
        completedBlockCount: bigint;
        /** Weight that would share in it */
        eligibleWeight: bigint;
        /** What a checkpoint through all settled rounds would mint, in base units; not minted yet */
        amountBaseUnits: bigint;
      };
      /**
       * The newest 12 of the range, newest first
       *
       * @maxItems 12
       */
      recentCheckpoints: Checkpoint[];
    }
  | {
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** `not_configured` without an economy of these contracts, `not_yet_safe` while its deployment is not safe */
      reason: 'not_configured' | 'not_yet_safe';
    };
/**
 * Issuance and collection state of the plain route
 *
 */
export type MiningState =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      release: Release;
      chain: Chain;
      identities: Identities;
      asset: Asset;
      /** What was issued; settled work that no checkpoint has reached is not in it */
      issuance: {
        /** All reward token that checkpoints minted, in base units */
        mintedBaseUnits: bigint;
        /** What the token says exists, in base units */
        tokenSupplyBaseUnits: bigint;
        /** What the cap leaves, in base units */
        unmintedCapacityBaseUnits: bigint;
        /** Last work block that was minted for */
        closedThroughBlock: bigint;
        /** Last round that a checkpoint has minted for */
        processedThroughRound: bigint;
        /** Last round whose changes of weight count */
        lastActivationRound: bigint;
        /** Most that will ever be minted, in base units */
        supplyCapBaseUnits?: bigint;
        /** What owners have claimed, in base units */
        paidBaseUnits?: bigint;
      };
      /** Tokens of the collection that exist */
      livePositionCount?: bigint;
      collection?: CollectionState;
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown. `unsupported_contract_version` and `projection_rebuilding` are told as `indexer_unavailable` today */
      reason:
        | 'indexer_disabled'
        | 'not_yet_safe'
        | 'indexer_unavailable'
        | 'indexer_mismatch'
        | 'unsupported_contract_version'
        | 'projection_rebuilding';
      /** The configured release; null without one */
      release: Release | null;
    };
/**
 * Owner portfolio of the plain route
 *
 */
export type Portfolio =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      release: Release;
      chain: Chain;
      identities: Identities;
      /** Address of the owner */
      owner: string;
      /** What the mining contract was configured with */
      configuration: {
        /** Start of round 1 in Unix seconds */
        genesisTimestamp: bigint;
        /** Length of a round in seconds */
        roundDuration: bigint;
        /** Most tokens that one claim may name, from 1 to 32 */
        claimLimit: bigint;
        /** Highest level */
        maximumLevel: number;
        /** Ticker of the token that rewards are paid in */
        tokenSymbol: string;
        /** Decimals of the reward token */
        tokenDecimals: number;
        /**
         * Exactly 1 to maximumLevel, ascending
         *
         * @minItems 1
         */
        levels: {
          /** The level */
          level: number;
          /** Mining power of a position of it */
          weight: bigint;
          /** Work blocks between a merge into it and the next one */
          cooldownBlocks: bigint;
        }[];
      };
      /** What the mining contract says */
      mining: {
        /** Last round that is settled */
        settledThroughRound: bigint;
        /** Round at the time of the safe block; zero before the genesis */
        currentRound: bigint;
        /** Completed work blocks */
        completedBlockHeight: bigint;
        /** Last round whose changes of weight count */
        lastAppliedRound: bigint;
        /** Active mining power of all positions of all owners */
        totalWeight: bigint;
      };
      /** Of all positions of the owner, not of the page alone */
      summary: {
        /** How many tokens the owner has */
        positionCount: bigint;
        /** Their mining power that earns now */
        activeWeight: bigint;
        /** Their mining power once pending changes take effect */
        targetWeight: bigint;
        /** What can be claimed now, in base units */
        claimableBaseUnits: bigint;
        /** What they have earned in all, in base units */
        earnedBaseUnits: bigint;
        /** Of these what they earned in the seven days of `earnings`, in base units */
        earnedSevenDayBaseUnits: bigint;
      };
      /**
       * Seven days, oldest first, the last one that of the safe block; days without earnings are there
       *
       * @minItems 7
       * @maxItems 7
       */
      earnings: {
        /** Date in UTC */
        date: string;
        /** Earned on it, in base units */
        earnedBaseUnits: bigint;
      }[];
      /**
       * Ascending by token ID, each once
       *
       * @maxItems 100
       */
      positions: Position[];
      /** Where the next page begins; null on the last one */
      nextCursor: string | null;
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
      /** The configured release; null without one */
      release: Release | null;
    };
/**
 * Owner activity of the plain route, newest first
 *
 */
export type OwnerActivity =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      release: Release;
      chain: Chain;
      identities: Identities;
      /** Address of the owner */
      owner: string;
      /**
       * Newest first; each ID once
       *
       * @maxItems 100
       */
      activity: OwnerEvent[];
      /** All safe events of the owner */
      total?: bigint;
      /** Where the next page begins; null on the last one */
      nextCursor: string | null;
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
      /** The configured release; null without one */
      release: Release | null;
    };
/**
 * Token metadata of the plain route
 *
 */
export type TokenMetadata =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      release: Release;
      chain: Chain;
      identities: Identities;
      /** ID of the token, a decimal from 1 to 9999 */
      tokenId: bigint;
      /** Contract of the token */
      collection: string;
      /** Its name */
      name: string;
      /** Its description */
      description: string;
      /**
       * Its attributes, in the order of its metadata
       *
       * @maxItems 32
       */
      attributes: {
        /** What the attribute is of */
        traitType: string;
        /** Its value */
        value: string;
      }[];
      /** Its image as a base64 SVG data URI; left out where it has none or a card takes its place */
      imageDataUri?: string;
      /** Address of an image of its card; left out where it has none, and without the release’s name */
      cardImageUrl?: string;
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 1;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
      /** The configured release; null without one */
      release: Release | null;
    };
/**
 * Issuance and collection state of the public route
 *
 */
export type MinerState =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 2;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      release: Release;
      chain: Chain;
      identities: Identities;
      asset: Asset;
      /** What was issued; settled work that no checkpoint has reached is not in it */
      issuance: {
        /** All reward token that checkpoints minted, in base units */
        mintedBaseUnits: bigint;
        /** What the token says exists, in base units */
        tokenSupplyBaseUnits: bigint;
        /** What the cap leaves, in base units */
        unmintedCapacityBaseUnits: bigint;
        /** Last work block that was minted for */
        mintedThroughBlock: bigint;
        /** Last round that a checkpoint has minted for */
        mintedThroughRound: bigint;
        /** Last round whose changes of weight count */
        lastAppliedRound: bigint;
      };
      collection?: CollectionState;
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 2;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
      /** The configured release; null without one */
      release: Release | null;
    };
/**
 * Owner portfolio of the public route
 *
 */
export type PublicPortfolio =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 2;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      release: Release;
      chain: Chain;
      identities: Identities;
      /** Address of the owner */
      owner: string;
      /** What the mining contract was configured with */
      configuration: {
        /** Start of round 1 in Unix seconds */
        genesisTimestamp: bigint;
        /** Length of a round in seconds */
        roundDuration: bigint;
        /** Most tokens that one claim may name, from 1 to 32 */
        claimLimit: bigint;
        /** Highest level */
        maximumLevel: number;
        /** Ticker of the token that rewards are paid in */
        tokenSymbol: string;
        /** Decimals of the reward token */
        tokenDecimals: number;
        /**
         * Exactly 1 to maximumLevel, ascending
         *
         * @minItems 1
         */
        levels: {
          /** The level */
          level: number;
          /** Mining power of a position of it */
          weight: bigint;
          /** Work blocks between a merge into it and the next one */
          cooldownBlocks: bigint;
        }[];
      };
      /** What the mining contract says */
      mining: {
        /** Last round that is settled */
        settledThroughRound: bigint;
        /** Round at the time of the safe block; zero before the genesis */
        currentRound: bigint;
        /** Completed work blocks */
        completedBlockHeight: bigint;
        /** Last round whose changes of weight count */
        lastAppliedRound: bigint;
        /** Active mining power of all positions of all owners */
        totalWeight: bigint;
      };
      /** Of all positions of the owner, not of the page alone */
      summary: {
        /** How many tokens the owner has */
        positionCount: bigint;
        /** Their mining power that earns now */
        activeWeight: bigint;
        /** Their mining power once pending changes take effect */
        targetWeight: bigint;
        /** What can be claimed now, in base units */
        claimableBaseUnits: bigint;
        /** What they have earned in all, in base units */
        earnedBaseUnits: bigint;
        /** Of these what they earned in the seven days of `earnings`, in base units */
        earnedSevenDayBaseUnits: bigint;
      };
      /**
       * Seven days, oldest first, the last one that of the safe block; days without earnings are there
       *
       * @minItems 7
       * @maxItems 7
       */
      earnings: {
        /** Date in UTC */
        date: string;
        /** Earned on it, in base units */
        earnedBaseUnits: bigint;
      }[];
      /**
       * Ascending by token ID, each once
       *
       * @maxItems 100
       */
      positions: Position[];
      /** Where the next page begins; null on the last one */
      nextCursor: string | null;
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 2;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
      /** The configured release; null without one */
      release: Release | null;
    };
/**
 * Owner activity of the public route, newest first
 *
 */
export type PublicOwnerActivity =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 2;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      release: Release;
      chain: Chain;
      identities: Identities;
      /** Address of the owner */
      owner: string;
      /**
       * Newest first; each ID once
       *
       * @maxItems 100
       */
      activity: OwnerEvent[];
      /** All safe events of the owner */
      total?: bigint;
      /** Where the next page begins; null on the last one */
      nextCursor: string | null;
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 2;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
      /** The configured release; null without one */
      release: Release | null;
    };
/**
 * Token metadata of the public route
 *
 */
export type PublicTokenMetadata =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 2;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      release: Release;
      chain: Chain;
      identities: Identities;
      /** ID of the token, a decimal from 1 to 9999 */
      tokenId: bigint;
      /** Contract of the token */
      collection: string;
      /** Its name */
      name: string;
      /** Its description */
      description: string;
      /**
       * Its attributes, in the order of its metadata
       *
       * @maxItems 32
       */
      attributes: {
        /** What the attribute is of */
        traitType: string;
        /** Its value */
        value: string;
      }[];
      /** Its image as a base64 SVG data URI; left out where it has none or a card takes its place */
      imageDataUri?: string;
      /** Address of an image of its card; left out where it has none, and without the release’s name */
      cardImageUrl?: string;
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 2;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
      /** The configured release; null without one */
      release: Release | null;
    };
/**
 * Settlement history of the public route, with the queue where it is requested
 *
 */
export type PublicSettlementHistory =
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 4;
      /** The public installation */
      installationId: string;
      /** The data is there */
      status: 'available';
      /** The range of the request */
      range: 'now' | '24h' | '7d' | '30d';
      /** When this body was made; how old what it shows is, other members say */
      generatedAt: string;
      chain: ChainBrief;
      /** What the range covers; null for `now`, which is all of the history */
      window: {
        /** Its start, which belongs to it */
        startAt: string;
        /** Its end, which does not */
        endAt: string;
        /** Length of a bucket in seconds */
        bucketSeconds: 3600 | 21600 | 86400;
      } | null;
      /** Sums of the window */
      summary: {
        /** Settled batches */
        settlementCount: bigint;
        /** Rounds with work in them */
        activeRoundCount: bigint;
        /** Their work, in work units */
        workAdded: bigint;
        /** Work blocks that they completed */
        completedBlockCount: bigint;
        /** Settlements since the deployment, whatever the range */
        archivedSettlementCount: bigint;
      };
      /**
       * The newest 10 of the window that completed a work block, newest first
       *
       * @maxItems 10
       */
      recentSettlements: Settlement[];
      /** Parts of the window, oldest first; one without settlements has zeros */
      buckets: SettlementBucket[];
      mining: SettlementMining;
      /**
       * For `now` alone, where issuance is available: the newest 42 rounds that were minted for
       *
       * @maxItems 42
       */
      recentRounds?: {
        /** Number of the round */
        roundId: bigint;
        /** End of the round */
        endAt: string;
        /** Reward token minted for it, in base units */
        sqkMintedBaseUnits: bigint;
      }[];
      /** For the other ranges, where issuance is available: the window before this one */
      previousPeriod?: {
        /** Its start, which belongs to it */
        startAt: string;
        /** Its end, which does not */
        endAt: string;
        /** Reward token minted in it, in base units */
        sqkMintedBaseUnits: bigint;
      };
      settlementQueue?: ProcessQueue;
    }
  | {
      /** Version of the shape of this resource; another one where a member is removed or changed */
      schemaVersion: 4;
      /** The public installation */
      installationId: string;
      /** The data is not known now, which is neither zero nor empty; `reason` says why */
      status: 'unavailable';
      /** Why nothing is shown: contracts are not configured, what is deployed is not safe yet, the indexer is behind or has failed, or the stream is of other contracts */
      reason: 'indexer_disabled' | 'not_yet_safe' | 'indexer_unavailable' | 'indexer_mismatch';
      settlementQueue?: ProcessQueue;
    };
export type EventFeed = EventFeedAvailable | EventFeedUnavailable;
export type FeedEvent =
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'system.settlement_completed';
      /** Version of the shape of this family */
      eventVersion: 2;
      /** Where it is recorded */
      source: {
        /** It happened on the chain */
        kind: 'chain';
        /** ID of the chain (EIP-155) */
        chainId: bigint;
        /** Which kind of chain it is */
        target: 'anvil' | 'sepolia' | 'mainnet';
        /** Names the release of the contracts */
        releaseId: string;
        /** Contract that emitted it */
        contractAddress: string;
        /** Number of the block of the chain that holds the event */
        blockNumber: bigint;
        /** Hash of that block */
        blockHash: string;
        /** Hash of the transaction */
        transactionHash: string;
        /** Place of the transaction in its block, from 0 */
        transactionIndex: number;
        /** Place of the event’s log in its block, from 0 */
        logIndex: number;
        /** The block has 12 confirmations */
        confirmationStatus: 'safe';
      };
      /** What happened, in figures */
      payload: {
        /** Last round that was settled before it */
        previousSettledThroughRound: bigint;
        /** Last round that it settled */
        settledThroughRound: bigint;
        /** Its rounds with work */
        activeRoundCount: bigint;
        /** Their work, in work units */
        workAdded: bigint;
        /** Work blocks that it completed */
        completedBlockCount: bigint;
        /** First work block that it completed; null when it completed none */
        firstCompletedBlock: bigint | null;
        /** Last one; null when it completed none */
        lastCompletedBlock: bigint | null;
        /** All settled work through it, in work units */
        cumulativeWork: bigint;
        /** Work blocks completed through it */
        blockHeight: bigint;
        /** All settled block units through it; 1,000,000,000 are one work block */
        cumulativeBlockUnits: bigint;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'system.mining_checkpointed';
      /** Version of the shape of this family */
      eventVersion: 2;
      /** Where it is recorded */
      source: {
        /** It happened on the chain */
        kind: 'chain';
        /** ID of the chain (EIP-155) */
        chainId: bigint;
        /** Which kind of chain it is */
        target: 'anvil' | 'sepolia' | 'mainnet';
        /** Names the release of the contracts */
        releaseId: string;
        /** Contract that emitted it */
        contractAddress: string;
        /** Number of the block of the chain that holds the event */
        blockNumber: bigint;
        /** Hash of that block */
        blockHash: string;
        /** Hash of the transaction */
        transactionHash: string;
        /** Place of the transaction in its block, from 0 */
        transactionIndex: number;
        /** Place of the event’s log in its block, from 0 */
        logIndex: number;
        /** The block has 12 confirmations */
        confirmationStatus: 'safe';
      };
      /** What happened, in figures */
      payload: {
        /** Last round of the checkpoint before it */
        afterRound: bigint;
        /** Last round that it minted for */
        throughRound: bigint;
        /** Work blocks that its rounds completed */
        completedBlockCount: bigint;
        /** All settled work through its last round, in work units */
        cumulativeWork: bigint;
        /** Reward token that it minted, in base units */
        amountBaseUnits: bigint;
        asset: Asset;
        /** All settled block units through its last round */
        cumulativeBlockUnits: bigint;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'player.miner_minted';
      /** Version of the shape of this family */
      eventVersion: 2;
      /** Where it is recorded */
      source: {
        /** It happened on the chain */
        kind: 'chain';
        /** ID of the chain (EIP-155) */
        chainId: bigint;
        /** Which kind of chain it is */
        target: 'anvil' | 'sepolia' | 'mainnet';
        /** Names the release of the contracts */
        releaseId: string;
        /** Contract that emitted it */
        contractAddress: string;
        /** Number of the block of the chain that holds the event */
        blockNumber: bigint;
        /** Hash of that block */
        blockHash: string;
        /** Hash of the transaction */
        transactionHash: string;
        /** Place of the transaction in its block, from 0 */
        transactionIndex: number;
        /** Place of the event’s log in its block, from 0 */
        logIndex: number;
        /** The block has 12 confirmations */
        confirmationStatus: 'safe';
      };
      /** What happened, in figures */
      payload: {
        /** Who minted it */
        owner: string;
        /** ID of the token */
        tokenId: bigint;
        /** Mining power that it will have */
        weight: bigint;
        /** Work block from which it can be merged */
        nextMergeBlock: bigint;
        /** Round from which it earns */
        firstRound: bigint;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'player.miners_merged';
      /** Version of the shape of this family */
      eventVersion: 2;
      /** Where it is recorded */
      source: {
        /** It happened on the chain */
        kind: 'chain';
        /** ID of the chain (EIP-155) */
        chainId: bigint;
        /** Which kind of chain it is */
        target: 'anvil' | 'sepolia' | 'mainnet';
        /** Names the release of the contracts */
        releaseId: string;
        /** Contract that emitted it */
        contractAddress: string;
        /** Number of the block of the chain that holds the event */
        blockNumber: bigint;
        /** Hash of that block */
        blockHash: string;
        /** Hash of the transaction */
        transactionHash: string;
        /** Place of the transaction in its block, from 0 */
        transactionIndex: number;
        /** Place of the event’s log in its block, from 0 */
        logIndex: number;
        /** The block has 12 confirmations */
        confirmationStatus: 'safe';
      };
      /** What happened, in figures */
      payload: {
        /** Who merged them */
        owner: string;
        /** Token that remains */
        survivorTokenId: bigint;
        /** Token that is gone */
        donorTokenId: bigint;
        /** Level of the one that remains */
        level: number;
        /** Work block from which it can be merged again */
        nextMergeBlock: bigint;
        /** Round from which its new weight counts */
        effectiveRound: bigint;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'player.rewards_claimed';
      /** Version of the shape of this family */
      eventVersion: 2;
      /** Where it is recorded */
      source: {
        /** It happened on the chain */
        kind: 'chain';
        /** ID of the chain (EIP-155) */
        chainId: bigint;
        /** Which kind of chain it is */
        target: 'anvil' | 'sepolia' | 'mainnet';
        /** Names the release of the contracts */
        releaseId: string;
        /** Contract that emitted it */
        contractAddress: string;
        /** Number of the block of the chain that holds the event */
        blockNumber: bigint;
        /** Hash of that block */
        blockHash: string;
        /** Hash of the transaction */
        transactionHash: string;
        /** Place of the transaction in its block, from 0 */
        transactionIndex: number;
        /** Place of the event’s log in its block, from 0 */
        logIndex: number;
        /** The block has 12 confirmations */
        confirmationStatus: 'safe';
      };
      /** What happened, in figures */
      payload: {
        /** Who claimed */
        owner: string;
        /**
         * Tokens whose rewards were claimed
         *
         * @minItems 1
         * @maxItems 32
         */
        tokenIds: bigint[];
        /** Reward that was paid, in base units */
        amountBaseUnits: bigint;
        asset: Asset;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'measurement.distance_milestone';
      /** Version of the shape of this family */
      eventVersion: 1;
      /** Where it is recorded */
      source: {
        /** The wheel reached it */
        kind: 'measurement';
        /** The installation of the reading */
        installationId: string;
        /** Place of the reading in the order of receipt */
        receiptCursor: bigint;
        /** Names the reading that reached it first */
        telemetryId: string;
        /** When the device took that reading, by its own clock */
        observedAt: string;
        /** When the gateway received it */
        receivedAt: string;
        /** Version of the rules by which such events are made */
        policyVersion: string;
        /** The reading was accepted */
        disposition: 'accepted';
      };
      /** What happened, in figures */
      payload: {
        /** Distance of the milestone, in millimetres */
        thresholdDistanceMm: bigint;
        /** Distance since the first reading, in millimetres */
        observedLifetimeDistanceMm: bigint;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'measurement.daily_distance_milestone';
      /** Version of the shape of this family */
      eventVersion: 1;
      /** Where it is recorded */
      source: {
        /** The wheel reached it */
        kind: 'measurement';
        /** The installation of the reading */
        installationId: string;
        /** Place of the reading in the order of receipt */
        receiptCursor: bigint;
        /** Names the reading that reached it first */
        telemetryId: string;
        /** When the device took that reading, by its own clock */
        observedAt: string;
        /** When the gateway received it */
        receivedAt: string;
        /** Version of the rules by which such events are made */
        policyVersion: string;
        /** The reading was accepted */
        disposition: 'accepted';
      };
      /** What happened, in figures */
      payload: {
        /** Distance of the milestone, in millimetres */
        thresholdDistanceMm: bigint;
        /** Distance of the day, in millimetres */
        observedDayDistanceMm: bigint;
        /** Date of the noon UTC at which the day began */
        utcDate: string;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'measurement.speed_milestone';
      /** Version of the shape of this family */
      eventVersion: 1;
      /** Where it is recorded */
      source: {
        /** The wheel reached it */
        kind: 'measurement';
        /** The installation of the reading */
        installationId: string;
        /** Place of the reading in the order of receipt */
        receiptCursor: bigint;
        /** Names the reading that reached it first */
        telemetryId: string;
        /** When the device took that reading, by its own clock */
        observedAt: string;
        /** When the gateway received it */
        receivedAt: string;
        /** Version of the rules by which such events are made */
        policyVersion: string;
        /** The reading was accepted */
        disposition: 'accepted';
      };
      /** What happened, in figures */
      payload: {
        /** Speed of the milestone, in millimetres per second */
        thresholdSpeedMmPerSecond: bigint;
        /** Speed of the reading, in millimetres per second */
        observedSpeedMmPerSecond: bigint;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'measurement.speed_record';
      /** Version of the shape of this family */
      eventVersion: 1;
      /** Where it is recorded */
      source: {
        /** The wheel reached it */
        kind: 'measurement';
        /** The installation of the reading */
        installationId: string;
        /** Place of the reading in the order of receipt */
        receiptCursor: bigint;
        /** Names the reading that reached it first */
        telemetryId: string;
        /** When the device took that reading, by its own clock */
        observedAt: string;
        /** When the gateway received it */
        receivedAt: string;
        /** Version of the rules by which such events are made */
        policyVersion: string;
        /** The reading was accepted */
        disposition: 'accepted';
      };
      /** What happened, in figures */
      payload: {
        /** Record before it, in millimetres per second; null for the first */
        previousRecordMmPerSecond: bigint | null;
        /** The new record, in millimetres per second */
        recordMmPerSecond: bigint;
        /** Speed of the reading, in millimetres per second */
        observedSpeedMmPerSecond: bigint;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'measurement.rpm_record';
      /** Version of the shape of this family */
      eventVersion: 1;
      /** Where it is recorded */
      source: {
        /** The wheel reached it */
        kind: 'measurement';
        /** The installation of the reading */
        installationId: string;
        /** Place of the reading in the order of receipt */
        receiptCursor: bigint;
        /** Names the reading that reached it first */
        telemetryId: string;
        /** When the device took that reading, by its own clock */
        observedAt: string;
        /** When the gateway received it */
        receivedAt: string;
        /** Version of the rules by which such events are made */
        policyVersion: string;
        /** The reading was accepted */
        disposition: 'accepted';
      };
      /** What happened, in figures */
      payload: {
        /** Record before it, in thousandths of revolutions per minute; null for the first */
        previousRecordRpmMilli: bigint | null;
        /** The new record, in thousandths of revolutions per minute */
        recordRpmMilli: bigint;
        /** Of the reading, in thousandths of revolutions per minute */
        observedRpmMilli: bigint;
      };
    }
  | {
      /** Names the event, for good */
      id: string;
      /** Time of the block, or of the reading by the clock of the device */
      occurredAt: string;
      /** When it became known: the order of the feed is by this */
      recordedAt: string;
      /** What happened */
      type: 'measurement.distance_streak';
      /** Version of the shape of this family */
      eventVersion: 1;
      /** Where it is recorded */
      source: {
        /** The wheel reached it */
        kind: 'measurement';
        /** The installation of the reading */
        installationId: string;
        /** Place of the reading in the order of receipt */
        receiptCursor: bigint;
        /** Names the reading that reached it first */
        telemetryId: string;
        /** When the device took that reading, by its own clock */
        observedAt: string;
        /** When the gateway received it */
        receivedAt: string;
        /** Version of the rules by which such events are made */
        policyVersion: string;
        /** The reading was accepted */
        disposition: 'accepted';
      };
      /** What happened, in figures */
      payload: {
        /** Days in a row that reached the distance */
        days: number;
        /** The distance, in millimetres */
        minimumDailyDistanceMm: bigint;
        /** Date of the noon UTC at which the last of them began */
        endingUtcDate: string;
      };
    };

/**
 * Measurement of one installation
 *
 */
export interface Telemetry {
  /** Version of the shape of this resource; another one where a member is removed or changed */
  schemaVersion: 1;
  /** The installation that the request names, or the public one */
  installationId: string;
  /** Opaque receipt revision; null without an accepted one */
  revision: string | null;
  /** Age of the receipt, not connectivity of the device */
  status: 'offline' | 'online' | 'stale';
  /** When the device took the reading, by its own clock; null without one */
  observedAt: string | null;
  /** When the gateway received the reading; null without one */
  receivedAt: string | null;
  /** Version of the software of the device, as it says; null where it says none */
  softwareVersion: string | null;
  /** The newest accepted reading; null without one, which is not zero */
  measurement: {
    /** Period of the counter within which it never falls */
    counterEpoch: string;
    /** Value of the counter in its epoch, in work units; measured, not settled */
    cumulativeWorkUnits: bigint;
    /** Where the value comes from */
    provenance: 'hardware' | 'simulated' | 'replay' | 'derived';
    /** State of the counter, as the device reports it */
    coreStatus: 'IDLE' | 'ACTIVE' | 'COUNTER_FAULT';
  } | null;
}
/**
 * Module snapshots of the public installation; none stored is an empty list
 *
 */
export interface Modules {
  /** Version of the shape of this resource; another one where a member is removed or changed */
  schemaVersion: 1;
  /** The public installation */
  installationId: string;
  /** Ordered by `instanceId`; empty where none is stored */
  modules: ModuleSnapshot[];
}
export interface ModuleSnapshot {
  /** Names the module within its installation */
  instanceId: string;
  /** What kind of part it is */
  moduleType: string;
  /** Names the software that drives it */
  driverId: string;
  /** Version of that software */
  moduleVersion: string;
  /** Version of the payload of the module */
  schemaVersion: number;
  /** What the module says of itself; every move between states is possible */
  state: 'disabled' | 'starting' | 'ready' | 'degraded' | 'faulted' | 'stopped';
  /** When the device observed this */
  observedAt: string;
  /** Where the snapshot comes from */
  provenance: 'hardware' | 'simulated' | 'replay' | 'derived';
  /** Of its last check of itself */
  health: {
    /** When the module checked itself */
    checkedAt: string;
    /** What it found, for people */
    message?: string | null;
    /** The same as a code of the module */
    code?: string | null;
  };
  /** Always empty: what a module knows of its device stays there */
  data: {};
}
export interface Observations {
  /** Version of the shape of this resource; another one where a member is removed or changed */
  schemaVersion: 1;
  /** The installation of the request */
  installationId: string;
  /**
   * Accepted readings behind the cursor, oldest first
   *
   * @maxItems 100
   */
  items: Observation[];
  /** Null when no other item exists now */
  nextCursor: string | null;
}
/**
 * One accepted reading: a counter value, not settled work
 *
 */
export interface Observation {
  /** Place of this reading: readings behind it are requested with it */
  cursor: string;
  /** Names the reading, given by the device */
  telemetryId: string;
  /** The installation that sent it */
  installationId: string;
  /** Run of the device within which `sequence` ascends */
  bootId: string;
  /** Number of the reading within its boot */
  sequence: number;
  /** When the device took the reading, by its own clock */
  observedAt: string;
  /** When the gateway received it */
  receivedAt: string;
  /** Period of the counter within which it never falls */
  counterEpoch: string;
  /** Value of the counter in its epoch, in work units; not settled work */
  cumulativeWorkUnits: bigint;
  /** Where the value comes from */
  provenance: 'hardware' | 'simulated' | 'replay' | 'derived';
  /** Version of the software of the device; null where it says none */
  softwareVersion: string | null;
}
/**
 * Process snapshot
 *
 */
export interface Process {
  /** Version of the shape of this resource; another one where a member is removed or changed */
  schemaVersion: 4;
  /** The public installation */
  installationId: string;
  /** Opaque; does not change with generatedAt alone */
  revision: string;
  /** When this body was made; how old what it shows is, other members say */
  generatedAt: string;
  /** The newest accepted reading; null without one, and where its counter is above 2^64 - 1, which telemetry and the status show */
  measurement: MeasurementUint64 | null;
  builder: ProcessBuilder;
  oracle: Oracle;
  settlementQueue: ProcessQueue;
}
export interface MeasurementUint64 {
  /** `online` while the newest accepted reading was received at most 120 seconds ago, then `stale` */
  freshness: 'online' | 'stale';
  /** When the device took the reading, by its own clock */
  observedAt: string;
  /** When the gateway received it */
  receivedAt: string;
  /** Seconds after the receipt for which a reading is fresh */
  staleAfterSeconds: 120;
  /** Period of the counter within which it never falls */
  counterEpoch: string;
  /** Where the value comes from */
  provenance: 'hardware' | 'simulated' | 'replay' | 'derived';
  /** State of the counter, as the device reports it */
  coreStatus: 'IDLE' | 'ACTIVE' | 'COUNTER_FAULT';
  /** Speed of rotation in thousandths of revolutions per minute */
  rpmMilli: number;
  /** Speed in millimetres per second */
  speedMmPerSecond: number;
  /** Distance that the device reports for its current universal day */
  distanceMm: number;
  /** Value of the counter in its epoch, in work units; measured, not settled. A larger value than 2^64 - 1 is not shown here: `measurement` is null then */
  cumulativeWorkUnits: bigint;
}
export interface PublicProjected {
  /** A projection: neither settled nor issued */
  lifecycle: 'optimistic';
  /** All work through this point, in work units */
  cumulativeWork: bigint;
  /** Work blocks completed through this point */
  blockHeight: bigint;
  /** Work into the next block; below workPerBlock */
  currentWork: bigint;
  /** Above zero */
  workPerBlock: bigint;
  /** First work block that is completed; null when none is */
  firstCompletedBlock: bigint | null;
  /** Last one; null when none is completed */
  lastCompletedBlock: bigint | null;
  /** How many work blocks are completed */
  completedBlockCount: bigint;
}
export interface Oracle {
  /** `accepted` while it closes rounds, `stale` when it last did so more than 1,200 seconds ago, `blocked` by its own word, `unavailable` before the first closure */
  state: 'accepted' | 'stale' | 'blocked' | 'unavailable';
  /** The oracle’s words while it is blocked, `no_closure` while it is unavailable, null otherwise */
  reason: string | null;
  /** When it last closed rounds; null while it is unavailable */
  latestAcceptedAt: string | null;
  /** The rounds that it closed last; null before the first */
  latestClosure: {
    /** First of them */
    firstRound: bigint;
    /** Last of them */
    lastRound: bigint;
    /** How many they are */
    roundCount: bigint;
    /** When the oracle accepted their work */
    acceptedAt: string;
  } | null;
}
/**
 * Pipeline status
 *
 */
export interface Status {
  /** Version of the shape of this resource; another one where a member is removed or changed */
  schemaVersion: 1;
  /** The public installation */
  installationId: string;
  /** Opaque; does not change with generatedAt alone */
  revision: string;
  /** When this body was made; how old what it shows is, other members say */
  generatedAt: string;
  /** The newest accepted reading; null without one */
  measurement: Measurement | null;
  builder: Builder;
  oracle: Oracle;
  settlementQueue: SettlementQueue;
  /** The key with which the device signs; null where none was reported */
  signer: Signer | null;
  /** Parts of the device, ordered by `instanceId` */
  modules: ModuleSnapshot[];
}
export interface Measurement {
  /** `online` while the newest accepted reading was received at most 120 seconds ago, then `stale` */
  freshness: 'online' | 'stale';
  /** When the device took the reading, by its own clock */
  observedAt: string;
  /** When the gateway received it */
  receivedAt: string;
  /** Seconds after the receipt for which a reading is fresh */
  staleAfterSeconds: 120;
  /** Period of the counter within which it never falls */
  counterEpoch: string;
  /** Where the value comes from */
  provenance: 'hardware' | 'simulated' | 'replay' | 'derived';
  /** State of the counter, as the device reports it */
  coreStatus: 'IDLE' | 'ACTIVE' | 'COUNTER_FAULT';
  /** Speed of rotation in thousandths of revolutions per minute */
  rpmMilli: number;
  /** Speed in millimetres per second */
  speedMmPerSecond: number;
  /** Distance that the device reports for its current universal day */
  distanceMm: number;
  /** Value of the counter in its epoch, in work units; measured, not settled */
  cumulativeWorkUnits: bigint;
}
export interface Projected {
  /** A projection: neither settled nor issued */
  lifecycle: 'optimistic';
  /** All work through this point, in work units */
  cumulativeWork: bigint;
  /** All block units through this point; 1,000,000,000 are one work block */
  cumulativeBlockUnits: bigint;
  /** Work blocks completed through this point */
  blockHeight: bigint;
  /** Block units into the next work block, below 1,000,000,000 */
  blockProgress: bigint;
  /** Difficulty: work units for 1,000 work blocks */
  workPerThousandBlocks: bigint;
  /** First work block that is completed; null when none is */
  firstCompletedBlock: bigint | null;
  /** Last one; null when none is completed */
  lastCompletedBlock: bigint | null;
  /** How many work blocks are completed */
  completedBlockCount: bigint;
}
export interface Signer {
  /** What kind of key it is */
  kind: string;
  /** Signature algorithm */
  algorithm: string;
  /** Where the device keeps the key */
  keySlot: string;
  /** When the key was enrolled */
  enrolledAt: string;
  /** When a signature of it was last verified */
  lastVerifiedAt: string;
  /** Base64 signature */
  lastSignature: string;
}
/**
 * Statistics of the public route
 *
 */
export interface PublicStatistics {
  /** Version of the shape of this resource; another one where a member is removed or changed */
  schemaVersion: 2;
  /** The public installation */
  installationId: string;
  /** Opaque; changes with the content */
  revision: string;
  /** End of the window */
  generatedAt: string;
  /** The range of the request */
  range: '7d' | '30d';
  /** Days begin at noon of this time zone */
  timezone: 'UTC';
  /** The universal day of now and the 6 or 29 before it */
  window: {
    /** Noon at which the first day begins */
    startAt: string;
    /** The half minute of the clock before this body was made: rounds that have not ended then do not count */
    endAt: string;
    /** Days of the window */
    dayCount: 7 | 30;
    /** Length of a bucket in seconds */
    bucketSeconds: 1800;
    /** Length of a round in seconds */
    roundSeconds: 600;
  };
  /** Since the first accepted reading */
  lifetime: {
    /** Work of all observed rounds, in work units */
    acceptedWorkUnits: bigint;
    /** Sum of the distances of all days, in millimetres */
    observedDistanceMm: bigint;
    /** Null while the chain view is unavailable */
    settledBlockCount: bigint | null;
    /** Settled batches; null while the chain is unavailable */
    settlementCount: bigint | null;
    /** Settled work in work units; null while the chain is unavailable */
    settledWorkUnits: bigint | null;
    /** Days with work */
    activeDayCount: number;
    /** Share of the expected rounds that were observed, in basis points */
    coverageBps: number;
    /** Null before the first accepted reading */
    firstObservedAt: string | null;
  };
  /** What the wheel did in the window */
  activity: {
    /** All of it is from rounds that readings cover */
    provenance: 'accepted_rounds';
    /** Of the window */
    coverage: {
      /** Rounds that have ended and could have been observed */
      expectedRoundCount: number;
      /** Rounds of which every instant is covered by readings */
      observedRoundCount: number;
      /** Share of the expected rounds that were observed, in basis points, rounded down */
      coverageBps: number;
      /** Whether every expected round was observed */
      complete: boolean;
    };
    /** Of the window */
    summary: {
      /** Work of the observed rounds, in work units */
      observedWorkUnits: bigint;
      /** Sum of the distances of the days, in millimetres */
      observedDistanceMm: bigint;
      /** Days with work */
      activeDayCount: number;
      /** Days that were observed completely, without work; a day that is missing is neither */
      inactiveDayCount: number;
      /** Average in thousandths of a work unit; null without an active day */
      averageWorkPerActiveDayMilli: bigint | null;
      /** Median in work units; null without an active day */
      medianWorkPerActiveDay: bigint | null;
      /** Average in millimetres; null without an active day */
      averageDistancePerActiveDayMm: bigint | null;
      /** Day with the most work; null without an active day */
      mostActiveDate: string | null;
      /** Its work in work units; null without an active day */
      mostActiveDateWorkUnits: bigint | null;
      /** Start of the half hour with the most work of a typical day, in minutes after midnight UTC; null without work */
      peakWindowStartMinuteUtc: number | null;
    };
    /**
     * 7 or 30, oldest first; consecutive
     *
     * @minItems 7
     * @maxItems 30
     */
    days: {
      /** Date of the noon UTC at which the day begins */
      date: string;
      /** Of the day */
      coverage: {
        /** Rounds that have ended and could have been observed */
        expectedRoundCount: number;
        /** Rounds of which every instant is covered by readings */
        observedRoundCount: number;
        /** Share of the expected rounds that were observed, in basis points, rounded down */
        coverageBps: number;
      };
      /** Work of its observed rounds, in work units */
      observedWorkUnits: bigint;
      /** Largest distance that the device reported for the day, in millimetres; null without a reading */
      distanceMm: bigint | null;
      /**
       * Half hours by the clock: the first 24 are of the date after `date`
       *
       * @minItems 48
       * @maxItems 48
       */
      buckets: {
        /** Start of the half hour in minutes after midnight UTC */
        startMinuteUtc: number;
        /** Whether its three rounds were observed: all, some, none, or they have not ended */
        coverage: 'complete' | 'partial' | 'missing' | 'future';
        /** How many of its three rounds were observed */
        observedRoundCount: number;
        /** Work of the observed rounds, in work units: zero where none was done, null where none was observed */
        workUnits: bigint | null;
      }[];
    }[];
    /**
     * Each half hour of the clock over all days, from complete half hours alone
     *
     * @minItems 48
     * @maxItems 48
     */
    typicalDay: {
      /** Start of the half hour in minutes after midnight UTC */
      startMinuteUtc: number;
      /** Work of all complete ones, in work units */
      totalWorkUnits: bigint;
      /** How many were complete */
      observedDayCount: number;
      /** Mean in thousandths of a work unit; null where none was complete */
      meanWorkMilli: bigint | null;
    }[];
  };
  /** Largest values of the window, each null where there is none above zero; the earliest of equal ones */
  records: {
    /** Most work in a half hour, in work units */
    mostWorkHalfHour: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Most work in a universal day, in work units */
    mostWorkUtcDay: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Longest distance of a universal day, in millimetres */
    maximumDailyDistanceMm: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Highest speed of rotation, in thousandths of revolutions per minute */
    peakObservedRpmMilli: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Highest speed, in millimetres per second */
    peakObservedSpeedMmPerSecond: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Longest run of observed rounds with work, in minutes */
    longestActiveWindowMinutes: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Longest run of days with work, in days */
    longestActiveDayStreak: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
  };
  /** When work blocks were completed, which is not known for the window */
  blocks: {
    /** The data is not known now, which is neither zero nor empty; `reason` says why */
    status: 'unavailable';
    /** What is missing */
    reason: 'completion_boundaries_unavailable' | 'insufficient_history';
  };
  /** Of the window */
  rounds: {
    /** Observed rounds */
    observedCount: number;
    /** Of these those with work */
    activeCount: number;
    /** Of these those without work */
    zeroWorkCount: number;
    /** Expected rounds that were not observed */
    missingCount: number;
    /** Share of the observed rounds that had work, in basis points */
    activeRateBps: number;
    /** Average work of an active round in thousandths of a work unit; null without one */
    averageActiveWorkMilli: bigint | null;
    /** Median work of an active round in work units; null without one */
    medianActiveWork: bigint | null;
    /** 90th percentile of the work of active rounds in work units; null without one */
    p90ActiveWork: bigint | null;
    /** Most work of a round in work units; null without an active one */
    mostActiveWork: bigint | null;
  };
  /** Submissions of the window */
  oracle:
    | {
        /** The data is there */
        status: 'available';
        /** Since when submissions are known */
        coverageStartedAt: string;
        /** Whether that is since before the window */
        completeForWindow: boolean;
        /** Submissions that were created in the window, those under way too */
        submissionCount: number;
        /** Of these the confirmed ones */
        confirmedCount: number;
        /** Of these the reverted ones */
        revertedCount: number;
        /** Of these the superseded ones */
        supersededCount: number;
        /** Share of the confirmed ones in basis points */
        confirmedRateBps: number;
        /** Share of the reverted ones in basis points */
        revertedRateBps: number;
        /** Share of the superseded ones in basis points */
        supersededRateBps: number;
        /** Median from submission to confirmation in milliseconds; null without a confirmed one */
        confirmationLatencyMedianMs: number | null;
        /** 90th percentile of the same; null without a confirmed one */
        confirmationLatencyP90Ms: number | null;
      }
    | {
        /** The data is not known now, which is neither zero nor empty; `reason` says why */
        status: 'unavailable';
        /** No submission is known yet */
        reason: 'projection_not_initialized' | 'insufficient_history';
      };
}
/**
 * Statistics of the plain route
 *
 */
export interface Statistics {
  /** Version of the shape of this resource; another one where a member is removed or changed */
  schemaVersion: 1;
  /** The public installation */
  installationId: string;
  /** Opaque; changes with the content */
  revision: string;
  /** End of the window */
  generatedAt: string;
  /** The range of the request */
  range: '7d' | '30d';
  /** Days begin at noon of this time zone */
  timezone: 'UTC';
  /** The universal day of now and the 6 or 29 before it */
  window: {
    /** Noon at which the first day begins */
    startAt: string;
    /** The half minute of the clock before this body was made: rounds that have not ended then do not count */
    endAt: string;
    /** Days of the window */
    dayCount: 7 | 30;
    /** Length of a bucket in seconds */
    bucketSeconds: 1800;
    /** Length of a round in seconds */
    roundSeconds: 600;
  };
  /** Since the first accepted reading */
  lifetime: {
    /** Work of all observed rounds, in work units */
    acceptedWorkUnits: bigint;
    /** Sum of the distances of all days, in millimetres */
    observedDistanceMm: bigint;
    /** Null while the chain view is unavailable */
    settledBlockCount: bigint | null;
    /** Settled batches; null while the chain is unavailable */
    settlementCount: bigint | null;
    /** Settled work in work units; null while the chain is unavailable */
    settledWorkUnits: bigint | null;
    /** Days with work */
    activeDayCount: number;
    /** Share of the expected rounds that were observed, in basis points */
    coverageBps: number;
    /** Null before the first accepted reading */
    firstObservedAt: string | null;
  };
  /** What the wheel did in the window */
  activity: {
    /** All of it is from rounds that readings cover */
    provenance: 'accepted_rounds';
    /** Of the window */
    coverage: {
      /** Rounds that have ended and could have been observed */
      expectedRoundCount: number;
      /** Rounds of which every instant is covered by readings */
      observedRoundCount: number;
      /** Share of the expected rounds that were observed, in basis points, rounded down */
      coverageBps: number;
      /** Whether every expected round was observed */
      complete: boolean;
    };
    /** Of the window */
    summary: {
      /** Work of the observed rounds, in work units */
      observedWorkUnits: bigint;
      /** Sum of the distances of the days, in millimetres */
      observedDistanceMm: bigint;
      /** Days with work */
      activeDayCount: number;
      /** Days that were observed completely, without work; a day that is missing is neither */
      inactiveDayCount: number;
      /** Average in thousandths of a work unit; null without an active day */
      averageWorkPerActiveDayMilli: bigint | null;
      /** Median in work units; null without an active day */
      medianWorkPerActiveDay: bigint | null;
      /** Average in millimetres; null without an active day */
      averageDistancePerActiveDayMm: bigint | null;
      /** Day with the most work; null without an active day */
      mostActiveDate: string | null;
      /** Its work in work units; null without an active day */
      mostActiveDateWorkUnits: bigint | null;
      /** Start of the half hour with the most work of a typical day, in minutes after midnight UTC; null without work */
      peakWindowStartMinuteUtc: number | null;
    };
    /**
     * 7 or 30, oldest first; consecutive
     *
     * @minItems 7
     * @maxItems 30
     */
    days: {
      /** Date of the noon UTC at which the day begins */
      date: string;
      /** Of the day */
      coverage: {
        /** Rounds that have ended and could have been observed */
        expectedRoundCount: number;
        /** Rounds of which every instant is covered by readings */
        observedRoundCount: number;
        /** Share of the expected rounds that were observed, in basis points, rounded down */
        coverageBps: number;
      };
      /** Work of its observed rounds, in work units */
      observedWorkUnits: bigint;
      /** Largest distance that the device reported for the day, in millimetres; null without a reading */
      distanceMm: bigint | null;
      /**
       * Half hours by the clock: the first 24 are of the date after `date`
       *
       * @minItems 48
       * @maxItems 48
       */
      buckets: {
        /** Start of the half hour in minutes after midnight UTC */
        startMinuteUtc: number;
        /** Whether its three rounds were observed: all, some, none, or they have not ended */
        coverage: 'complete' | 'partial' | 'missing' | 'future';
        /** How many of its three rounds were observed */
        observedRoundCount: number;
        /** Work of the observed rounds, in work units: zero where none was done, null where none was observed */
        workUnits: bigint | null;
      }[];
    }[];
    /**
     * Each half hour of the clock over all days, from complete half hours alone
     *
     * @minItems 48
     * @maxItems 48
     */
    typicalDay: {
      /** Start of the half hour in minutes after midnight UTC */
      startMinuteUtc: number;
      /** Work of all complete ones, in work units */
      totalWorkUnits: bigint;
      /** How many were complete */
      observedDayCount: number;
      /** Mean in thousandths of a work unit; null where none was complete */
      meanWorkMilli: bigint | null;
    }[];
  };
  /** Largest values of the window, each null where there is none above zero; the earliest of equal ones */
  records: {
    /** Most work in a half hour, in work units */
    mostWorkHalfHour: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Most work in a universal day, in work units */
    mostWorkUtcDay: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Longest distance of a universal day, in millimetres */
    maximumDailyDistanceMm: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Highest speed of rotation, in thousandths of revolutions per minute */
    peakObservedRpmMilli: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Highest speed, in millimetres per second */
    peakObservedSpeedMmPerSecond: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Longest run of observed rounds with work, in minutes */
    longestActiveWindowMinutes: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
    /** Longest run of days with work, in days */
    longestActiveDayStreak: {
      /** The value, in the unit that the name of the record says; work in work units, a streak in days */
      value: bigint;
      /** Start of the half hour, day or run; of a peak, when the device took the reading */
      occurredAt: string;
      /** Whether all that the record spans was observed */
      coverage: 'complete' | 'partial';
    } | null;
  };
  /** When work blocks were completed, which is not known for the window */
  blocks: {
    /** The data is not known now, which is neither zero nor empty; `reason` says why */
    status: 'unavailable';
    /** What is missing */
    reason: 'completion_boundaries_unavailable' | 'insufficient_history';
  };
  /** Of the window */
  rounds: {
    /** Observed rounds */
    observedCount: number;
    /** Of these those with work */
    activeCount: number;
    /** Of these those without work */
    zeroWorkCount: number;
    /** Expected rounds that were not observed */
    missingCount: number;
    /** Share of the observed rounds that had work, in basis points */
    activeRateBps: number;
    /** Average work of an active round in thousandths of a work unit; null without one */
    averageActiveWorkMilli: bigint | null;
    /** Median work of an active round in work units; null without one */
    medianActiveWork: bigint | null;
    /** 90th percentile of the work of active rounds in work units; null without one */
    p90ActiveWork: bigint | null;
    /** Most work of a round in work units; null without an active one */
    mostActiveWork: bigint | null;
  };
  /** Submissions of the window */
  oracle:
    | {
        /** The data is there */
        status: 'available';
        /** Since when submissions are known */
        coverageStartedAt: string;
        /** Whether that is since before the window */
        completeForWindow: boolean;
        /** Submissions that were created in the window, those under way too */
        submissionCount: number;
        /** Of these the confirmed ones */
        confirmedCount: number;
        /** Of these the reverted ones */
        revertedCount: number;
        /** Of these the superseded ones */
        supersededCount: number;
        /** Share of the confirmed ones in basis points */
        confirmedRateBps: number;
        /** Share of the reverted ones in basis points */
        revertedRateBps: number;
        /** Share of the superseded ones in basis points */
        supersededRateBps: number;
        /** Median from submission to confirmation in milliseconds; null without a confirmed one */
        confirmationLatencyMedianMs: number | null;
        /** 90th percentile of the same; null without a confirmed one */
        confirmationLatencyP90Ms: number | null;
      }
    | {
        /** The data is not known now, which is neither zero nor empty; `reason` says why */
        status: 'unavailable';
        /** No submission is known yet */
        reason: 'projection_not_initialized' | 'insufficient_history';
      };
}
export interface ChainBrief {
  /** Which kind of chain it is */
  target: 'anvil' | 'sepolia' | 'mainnet';
  /** ID of the chain (EIP-155) */
  chainId: bigint;
  /** Blocks that confirm the safe block, itself counted */
  confirmations: '12';
  /** Block of the chain in which the core was deployed */
  deploymentBlock: bigint;
  /** Newest block of the chain that is indexed */
  indexedThroughBlock: bigint;
  /** Safe block, at which this view was read: whether the view has moved is seen here, not at `generatedAt` */
  safeThroughBlock: bigint;
}
export interface CoreEvent {
  /** Names the event */
  id: string;
  /** Which of the contracts emitted it; the proxy’s address is the core’s */
  contractKind: 'core' | 'proxyAdmin' | 'operatorTimelock';
  /** Address of that contract */
  contractAddress: string;
  /** Name of the event in the contract */
  eventName: string;
  /** Number of the block of the chain that holds the event */
  blockNumber: bigint;
  /** Hash of that block */
  blockHash: string;
  /** Time of that block in Unix seconds */
  blockTimestamp: bigint;
  /** Hash of the transaction */
  transactionHash: string;
  /** Place of the transaction in its block, from 0 */
  transactionIndex: number;
  /** Place of the event’s log in its block, from 0 */
  logIndex: number;
  /** Its arguments in the order of the contract */
  arguments: {
    /** Name of the argument */
    name: string;
    /** Its value: integers as decimals, hexadecimal in lower case, lists with commas */
    value: string;
  }[];
}
export interface Settlement {
  /** Last round that was settled before it */
  previousSettledThroughRound: bigint;
  /** Last round that it settled */
  settledThroughRound: bigint;
  /** Its rounds with work */
  activeRoundCount: bigint;
  /** Their work, in work units */
  workAdded: bigint;
  /** All settled work through it, in work units */
  cumulativeWork: bigint;
  /** All settled block units through it; 1,000,000,000 are one work block */
  cumulativeBlockUnits: bigint;
  /** First work block that it completed */
  firstCompletedBlock: bigint;
  /** Last work block that it completed */
  lastCompletedBlock: bigint;
  /** One that completed none is not listed */
  completedBlockCount: bigint;
  /** Work blocks completed through it */
  blockHeight: bigint;
  /** Hash of the transaction */
  transactionHash: string;
  /** Number of the block of the chain that holds it */
  ethereumBlockNumber: bigint;
  /** Time of that block */
  blockTimestamp: string;
  /** Place of the event’s log in that block, from 0 */
  logIndex: number;
  /** The block has 12 confirmations */
  confirmationStatus: 'safe';
  /** Minted for its rounds; present once all of them are processed */
  sqkMintedBaseUnits?: bigint;
}
export interface SettlementBucket {
  /** Its start, which belongs to it */
  startAt: string;
  /** Its end, which does not */
  endAt: string;
  /** Settled batches */
  settlementCount: bigint;
  /** Rounds with work in them */
  activeRoundCount: bigint;
  /** Their work, in work units */
  workAdded: bigint;
  /** Work blocks that they completed */
  completedBlockCount: bigint;
  /** Reward token that checkpoints minted in it, in base units; left out while issuance is not available */
  sqkMintedBaseUnits?: bigint;
}
export interface Checkpoint {
  /** Last round of the checkpoint before it */
  afterRound: bigint;
  /** Last round that it minted for */
  throughRound: bigint;
  /** Work blocks that its rounds completed */
  completedBlockCount: bigint;
  /** All settled work through its last round, in work units */
  cumulativeWork: bigint;
  /** All settled block units through its last round */
  cumulativeBlockUnits: bigint;
  /** Weight that shared in it */
  eligibleWeight: bigint;
  /** Reward token that it minted, in base units */
  amountBaseUnits: bigint;
  /** All reward token that was minted through it, in base units */
  totalMintedBaseUnits: bigint;
  /** Hash of the transaction */
  transactionHash: string;
  /** Number of the block of the chain that holds it */
  ethereumBlockNumber: bigint;
  /** Time of that block */
  blockTimestamp: string;
  /** Place of the event’s log in that block, from 0 */
  logIndex: number;
  /** The block has 12 confirmations */
  confirmationStatus: 'safe';
}
export interface Release {
  /** Names the release of the contracts */
  id: string;
  /** Revision of the protocol */
  protocolRevision: string;
  /** Revision of the reward model */
  rewardModelRevision: string;
}
export interface Chain {
  /** Which kind of chain it is */
  target: 'anvil' | 'sepolia' | 'mainnet';
  /** ID of the chain (EIP-155) */
  chainId: bigint;
  /** Blocks that confirm the safe block, itself counted */
  confirmations: '12';
  /** Block of the chain in which the core was deployed */
  deploymentBlock: bigint;
  /** Newest block of the chain that is indexed */
  indexedThroughBlock: bigint;
  /** Safe block, at which this view was read: whether the view has moved is seen here, not at `generatedAt` */
  safeThroughBlock: bigint;
  /** Block of the chain in which the contracts of reward and collection were deployed */
  economyDeploymentBlock: bigint;
  /** Hash of the safe block */
  safeBlockHash: string;
  /** Time of the safe block */
  safeBlockTimestamp: string;
}
export interface Identities {
  /** Contract that records settlements */
  core: string;
  /** Contract that created the reward token */
  tokenFactory: string;
  /** Contract that mints and pays rewards */
  mining: string;
  /** Contract of the reward token */
  token: string;
  /** Contract of the NFTs */
  collection: string;
  /** Code behind the mining contract’s proxy */
  miningImplementation: string;
  /** Version that this code says it has */
  miningImplementationVersion: bigint;
  /** Digest of its storage layout */
  miningStorageLayoutDigest: string;
}
export interface Asset {
  /** Address of the token contract */
  address: string;
  /** Ticker of the token */
  symbol: string;
  /** Decimals of the token: an amount of one token is ten to this power in base units */
  decimals: number;
}
/**
 * The sale, its phase at the time of the safe block
 *
 */
export interface CollectionState {
  /** The first that holds at the time of the safe block, so that a timed change needs no event */
  phase: 'unconfigured' | 'pending' | 'allowlist' | 'public' | 'closed';
  /** Whether minting is paused */
  paused: boolean;
  /** Tokens minted of the public allocation */
  publicMinted: bigint;
  /** Tokens for the public */
  publicAllocation: bigint;
  /** Tokens minted of the reserve */
  reserveMinted: bigint;
  /** Tokens that the protocol keeps for itself */
  protocolReserve: bigint;
  /** Price of a mint in the chain’s native coin */
  publicPriceBaseUnits: bigint;
  /** Start of the sale to those on the list; null where none is set */
  allowlistStart: string | null;
  /** Its end, from which the public may mint; null where none is set */
  allowlistEnd: string | null;
}
export interface Position {
  /** ID of the token */
  tokenId: bigint;
  /** Level of the position, which merges raise */
  level: number;
  /** Mining power that earns now */
  activeWeight: bigint;
  /** Mining power once a pending change takes effect */
  targetWeight: bigint;
  /** Round from which it takes effect; null where nothing is pending */
  pendingRound: bigint | null;
  /** What changes it; null where nothing is pending */
  pendingActivationSource: ('mint' | 'merge') | null;
  /** Whether it can be merged: not any more at the highest level, not while a change is pending or before `nextMergeBlock` */
  mergeState: 'ready' | 'cooldown' | 'pending' | 'terminal';
  /** Work block from which it can be merged */
  nextMergeBlock: bigint;
  /** Work blocks until then; zero when it has come */
  blocksUntilMerge: bigint;
  /** Reward that can be claimed now, in base units */
  claimableBaseUnits: bigint;
  /** Reward that it has earned in all, in base units */
  earnedBaseUnits: bigint;
  /** Of these what it earned in the seven days of `earnings`, in base units */
  earnedSevenDayBaseUnits: bigint;
  /** Since when the owner has it */
  ownershipStartedAt: string;
  /** Whether its metadata route has something to show */
  metadataStatus: 'available' | 'unavailable';
}
export interface OwnerEvent {
  /** Names the event */
  id: string;
  /** What the owner did; `checkpoint` is of the schema alone */
  kind: 'mint' | 'merge' | 'claim' | 'transfer' | 'checkpoint';
  /**
   * Tokens that it was done with
   *
   * @maxItems 32
   */
  tokenIds: bigint[];
  /** Reward that was claimed, in base units; null for other kinds */
  amountBaseUnits: bigint | null;
  /** Owner before a transfer; null for other kinds */
  from: string | null;
  /** Owner after a mint or transfer, or who claimed; null for a merge */
  to: string | null;
  /** Level after a mint or merge; null for other kinds */
  level: number | null;
  /** Round from which a change of weight counts; null where there is none */
  effectiveRound: bigint | null;
  /** Work block from which the token can be merged; null where there is none */
  nextMergeBlock: bigint | null;
  /** Where on the chain it is recorded */
  source: {
    /** Number of the block of the chain that holds the event */
    blockNumber: bigint;
    /** Hash of that block */
    blockHash: string;
    /** Time of that block */
    blockTimestamp: string;
    /** Hash of the transaction */
    transactionHash: string;
    /** Place of the transaction in its block, from 0 */
    transactionIndex: number;
    /** Place of the event’s log in its block, from 0 */
    logIndex: number;
    /** The block has 12 confirmations */
    confirmationStatus: 'safe';
  };
}
export interface EventFeedAvailable {
  /** Version of the shape of this resource; another one where a member is removed or changed */
  schemaVersion: 1;
  /** The public installation */
  installationId: string;
  /** The data is there */
  status: 'available';
  /** When this body was made; how old what it shows is, other members say */
  generatedAt: string;
  release: Release;
  chain: Chain;
  identities: Identities;
  /** Version of the list of types */
  catalogVersion: 'public-activity-v2';
  /** The category of the request */
  category: 'all' | 'protocol' | 'players' | 'measurement';
  /**
   * Types that the category can contain now, each once
   *
   * @minItems 1
   * @maxItems 11
   */
  activeEventTypes: (
    | 'system.settlement_completed'
    | 'system.mining_checkpointed'
    | 'player.miner_minted'
    | 'player.miners_merged'
    | 'player.rewards_claimed'
    | 'measurement.distance_milestone'
    | 'measurement.daily_distance_milestone'
    | 'measurement.speed_milestone'
    | 'measurement.speed_record'
    | 'measurement.distance_streak'
    | 'measurement.rpm_record'
  )[];
  /**
   * Newest first, by `recordedAt`
   *
   * @maxItems 100
   */
  events: FeedEvent[];
  /** Where the next page begins; null on the last one */
  nextCursor: string | null;
}
export interface EventFeedUnavailable {
  /** Version of the shape of this resource; another one where a member is removed or changed */
  schemaVersion: 1;
  /** The public installation */
  installationId: string;
  /** The data is not known now, which is neither zero nor empty; `reason` says why */
  status: 'unavailable';
  /** Why there is nothing to show: the reasons of the chain, or no accepted reading yet where measurements are requested */
  reason:
    | 'indexer_disabled'
    | 'not_yet_safe'
    | 'indexer_unavailable'
    | 'indexer_mismatch'
    | 'source_disabled';
}

/** Every route, with its parameters and its body. */
export interface Routes {
  /** Newest accepted measurement of the public installation. */
  readonly '/v1/public/telemetry': {
    readonly path: Record<never, never>;
    readonly query: Record<never, never>;
    readonly body: Telemetry;
  };
  /** Newest accepted measurement of an installation. */
  readonly '/v1/public/installations/{installationId}/telemetry': {
    readonly path: { /** One wheel device identity */ readonly installationId: string };
    readonly query: Record<never, never>;
    readonly body: Telemetry;
  };
  /** Module snapshots of the public installation. */
  readonly '/v1/public/modules': {
    readonly path: Record<never, never>;
    readonly query: Record<never, never>;
    readonly body: Modules;
  };
  /** All accepted readings of an installation, oldest first, page by page. */
  readonly '/v1/public/installations/{installationId}/observations': {
    readonly path: { /** One wheel device identity */ readonly installationId: string };
    readonly query: {
      /** Only readings after it are returned; omit it for the first page */ readonly cursor?: string /** Integers are clamped to 1-100; anything else gives 100. Never rejected */;
      readonly limit?: number;
    };
    readonly body: Observations;
  };
  /** Process snapshot: measured, projected, queued. */
  readonly '/v4/public/process': {
    readonly path: Record<never, never>;
    readonly query: Record<never, never>;
    readonly body: Process;
  };
  /** Pipeline status, with signer and modules. */
  readonly '/v1/status': {
    readonly path: Record<never, never>;
    readonly query: Record<never, never>;
    readonly body: Status;
  };
  /** Statistics over 7 or 30 universal days. */
  readonly '/v2/public/stats': {
    readonly path: Record<never, never>;
    readonly query: { /** Window */ readonly range: '7d' | '30d' };
    readonly body: PublicStatistics;
  };
  /** Statistics over 7 or 30 universal days. */
  readonly '/v1/measurement/stats': {
    readonly path: Record<never, never>;
    readonly query: { /** Window */ readonly range: '7d' | '30d' };
    readonly body: Statistics;
  };
  /** Core contract at the safe block. */
  readonly '/v1/core': {
    readonly path: Record<never, never>;
    readonly query: Record<never, never>;
    readonly body: CoreState;
  };
  /** Settlements, what they completed and what was minted for it. */
  readonly '/v1/settlements': {
    readonly path: Record<never, never>;
    readonly query: { /** Window; `now` has none */ readonly range?: 'now' | '24h' | '7d' | '30d' };
    readonly body: SettlementHistory;
  };
  /** Issuance and collection at the safe block. */
  readonly '/v1/mining/state': {
    readonly path: Record<never, never>;
    readonly query: Record<never, never>;
    readonly body: MiningState;
  };
  /** Positions of an owner, and what they earn. */
  readonly '/v1/owners/{address}/miners': {
    readonly path: {
      /** `0x` and 40 hexadecimal digits: lower case, or with its checksum */ readonly address: string;
    };
    readonly query: {
      /** Page size, 1-100 */ readonly limit?: number /** The `nextCursor` of the page before, with the same owner; omit for the start */;
      readonly cursor?: string;
    };
    readonly body: Portfolio;
  };
  /** What an owner did, newest first. */
  readonly '/v1/owners/{address}/activity': {
    readonly path: {
      /** `0x` and 40 hexadecimal digits: lower case, or with its checksum */ readonly address: string;
    };
    readonly query: {
      /** Page size, 1-100 */ readonly limit?: number /** The `nextCursor` of the page before, with the same owner; omit for the start */;
      readonly cursor?: string;
    };
    readonly body: OwnerActivity;
  };
  /** Metadata of a position. */
  readonly '/v1/miners/{tokenId}/metadata': {
    readonly path: { /** ID of the token, a decimal from 1 to 9999 */ readonly tokenId: string };
    readonly query: Record<never, never>;
    readonly body: TokenMetadata;
  };
  /** Issuance and collection at the safe block. */
  readonly '/v2/public/miners/state': {
    readonly path: Record<never, never>;
    readonly query: Record<never, never>;
    readonly body: MinerState;
  };
  /** Positions of an owner, and what they earn. */
  readonly '/v2/public/miners/portfolio': {
    readonly path: Record<never, never>;
    readonly query: {
      /** Address in lower case, not the zero address */ readonly owner: string /** Page size, 1-100 */;
      readonly limit?: number /** The `nextCursor` of the page before, with the same owner; omit for the start */;
      readonly cursor?: string;
    };
    readonly body: PublicPortfolio;
  };
  /** What an owner did, newest first. */
  readonly '/v2/public/miners/activity': {
    readonly path: Record<never, never>;
    readonly query: {
      /** Address in lower case, not the zero address */ readonly owner: string /** Page size, 1-100 */;
      readonly limit?: number /** The `nextCursor` of the page before, with the same owner; omit for the start */;
      readonly cursor?: string;
    };
    readonly body: PublicOwnerActivity;
  };
  /** Metadata of a position. */
  readonly '/v2/public/miners/metadata/{tokenId}': {
    readonly path: { /** ID of the token, a decimal from 1 to 9999 */ readonly tokenId: string };
    readonly query: {
      /** ID of the current release; then a card takes the place of the image */ readonly release?: string;
    };
    readonly body: PublicTokenMetadata;
  };
  /** Settlements, what they completed and what was minted for it. */
  readonly '/v4/public/settlements': {
    readonly path: Record<never, never>;
    readonly query: {
      /** Window; `now` has none */ readonly range?:
        | 'now'
        | '24h'
        | '7d'
        | '30d' /** `1` adds the settlement queue to the history */;
      readonly queue?: string;
    };
    readonly body: PublicSettlementHistory;
  };
  /** What happened on the chain and what the wheel reached, newest first. */
  readonly '/v1/events': {
    readonly path: Record<never, never>;
    readonly query: {
      /** Category of the events */ readonly category?:
        | 'all'
        | 'protocol'
        | 'players'
        | 'measurement' /** Page size, 1-100 */;
      readonly limit?: number /** The `nextCursor` of the page before, with the same category; omit for the start */;
      readonly cursor?: string;
    };
    readonly body: EventFeed;
  };
  /** What happened on the chain and what the wheel reached, newest first. */
  readonly '/v2/public/events': {
    readonly path: Record<never, never>;
    readonly query: {
      /** Category of the events */ readonly category?:
        | 'all'
        | 'protocol'
        | 'players'
        | 'measurement' /** Page size, 1-100 */;
      readonly limit?: number /** The `nextCursor` of the page before, with the same category; omit for the start */;
      readonly cursor?: string;
    };
    readonly body: EventFeed;
  };
}

/** Where the decimals of a body are: `1` is one, a list has them in each item. */
export type Decimals = 1 | readonly [Decimals] | { readonly [member: string]: Decimals };

export const decimals: { readonly [Path in keyof Routes]?: Decimals } = {
  '/v1/public/telemetry': { measurement: { cumulativeWorkUnits: 1 } },
  '/v1/public/installations/{installationId}/telemetry': { measurement: { cumulativeWorkUnits: 1 } },
  '/v1/public/installations/{installationId}/observations': { items: [{ cumulativeWorkUnits: 1 }] },
  '/v4/public/process': {
    measurement: { cumulativeWorkUnits: 1 },
    builder: {
      anchor: { settledThroughRound: 1, cumulativeWork: 1, blockHeight: 1, currentWork: 1, workPerBlock: 1 },
      queued: { closedRoundCount: 1, closedWorkUnits: 1, openRoundWorkUnits: 1 },
      projected: {
        cumulativeWork: 1,
        blockHeight: 1,
        currentWork: 1,
        workPerBlock: 1,
        firstCompletedBlock: 1,
        lastCompletedBlock: 1,
        completedBlockCount: 1,
      },
    },
    oracle: { latestClosure: { firstRound: 1, lastRound: 1, roundCount: 1 } },
    settlementQueue: {
      buffered: { firstRound: 1, lastRound: 1, roundCount: 1, activeRoundCount: 1, workUnits: 1 },
      projected: {
        cumulativeWork: 1,
        blockHeight: 1,
        currentWork: 1,
        workPerBlock: 1,
        firstCompletedBlock: 1,
        lastCompletedBlock: 1,
        completedBlockCount: 1,
      },
      latestSubmission: {
        previousSettledThroughRound: 1,
        settledThroughRound: 1,
        roundCount: 1,
        activeRoundCount: 1,
        expected: {
          settledThroughRound: 1,
          cumulativeWork: 1,
          blockHeight: 1,
          currentWork: 1,
          workPerBlock: 1,
          firstCompletedBlock: 1,
          lastCompletedBlock: 1,
          completedBlockCount: 1,
        },
      },
    },
  },
  '/v1/status': {
    measurement: { cumulativeWorkUnits: 1 },
    builder: {
      anchor: {
        settledThroughRound: 1,
        cumulativeWork: 1,
        cumulativeBlockUnits: 1,
        blockHeight: 1,
        blockProgress: 1,
        workPerThousandBlocks: 1,
      },
      queued: { closedRoundCount: 1, closedWorkUnits: 1, openRoundWorkUnits: 1 },
      projected: {
        cumulativeWork: 1,
        cumulativeBlockUnits: 1,
        blockHeight: 1,
        blockProgress: 1,
        workPerThousandBlocks: 1,
        firstCompletedBlock: 1,
        lastCompletedBlock: 1,
        completedBlockCount: 1,
      },
    },
    oracle: { latestClosure: { firstRound: 1, lastRound: 1, roundCount: 1 } },
    settlementQueue: {
      buffered: { firstRound: 1, lastRound: 1, roundCount: 1, activeRoundCount: 1, workUnits: 1 },
      projected: {
        cumulativeWork: 1,
        cumulativeBlockUnits: 1,
        blockHeight: 1,
        blockProgress: 1,
        workPerThousandBlocks: 1,
        firstCompletedBlock: 1,
        lastCompletedBlock: 1,
        completedBlockCount: 1,
      },
      latestSubmission: {
        previousSettledThroughRound: 1,
        settledThroughRound: 1,
        roundCount: 1,
        activeRoundCount: 1,
        expected: {
          settledThroughRound: 1,
          cumulativeWork: 1,
          cumulativeBlockUnits: 1,
          blockHeight: 1,
          blockProgress: 1,
          workPerThousandBlocks: 1,
          firstCompletedBlock: 1,
          lastCompletedBlock: 1,
          completedBlockCount: 1,
        },
      },
    },
  },
  '/v2/public/stats': {
    lifetime: {
      acceptedWorkUnits: 1,
      observedDistanceMm: 1,
      settledBlockCount: 1,
      settlementCount: 1,
      settledWorkUnits: 1,
    },
    activity: {
      summary: {
        observedWorkUnits: 1,
        observedDistanceMm: 1,
        averageWorkPerActiveDayMilli: 1,
        medianWorkPerActiveDay: 1,
        averageDistancePerActiveDayMm: 1,
        mostActiveDateWorkUnits: 1,
      },
      days: [{ observedWorkUnits: 1, distanceMm: 1, buckets: [{ workUnits: 1 }] }],
      typicalDay: [{ totalWorkUnits: 1, meanWorkMilli: 1 }],
    },
    records: {
      mostWorkHalfHour: { value: 1 },
      mostWorkUtcDay: { value: 1 },
      maximumDailyDistanceMm: { value: 1 },
      peakObservedRpmMilli: { value: 1 },
      peakObservedSpeedMmPerSecond: { value: 1 },
      longestActiveWindowMinutes: { value: 1 },
      longestActiveDayStreak: { value: 1 },
    },
    rounds: { averageActiveWorkMilli: 1, medianActiveWork: 1, p90ActiveWork: 1, mostActiveWork: 1 },
  },
  '/v1/measurement/stats': {
    lifetime: {
      acceptedWorkUnits: 1,
      observedDistanceMm: 1,
      settledBlockCount: 1,
      settlementCount: 1,
      settledWorkUnits: 1,
    },
    activity: {
      summary: {
        observedWorkUnits: 1,
        observedDistanceMm: 1,
        averageWorkPerActiveDayMilli: 1,
        medianWorkPerActiveDay: 1,
        averageDistancePerActiveDayMm: 1,
        mostActiveDateWorkUnits: 1,
      },
      days: [{ observedWorkUnits: 1, distanceMm: 1, buckets: [{ workUnits: 1 }] }],
      typicalDay: [{ totalWorkUnits: 1, meanWorkMilli: 1 }],
    },
    records: {
      mostWorkHalfHour: { value: 1 },
      mostWorkUtcDay: { value: 1 },
      maximumDailyDistanceMm: { value: 1 },
      peakObservedRpmMilli: { value: 1 },
      peakObservedSpeedMmPerSecond: { value: 1 },
      longestActiveWindowMinutes: { value: 1 },
      longestActiveDayStreak: { value: 1 },
    },
    rounds: { averageActiveWorkMilli: 1, medianActiveWork: 1, p90ActiveWork: 1, mostActiveWork: 1 },
  },
  '/v1/core': {
    chain: { chainId: 1, deploymentBlock: 1, indexedThroughBlock: 1, safeThroughBlock: 1 },
    configuration: {
      genesisTimestamp: 1,
      roundDuration: 1,
      maxWorkPerRound: 1,
      maxRoundsPerBatch: 1,
      initialWorkPerThousandBlocks: 1,
      targetBlocksPerActiveRound: 1,
      difficultySmoothingRounds: 1,
      blockUnitsPerBlock: 1,
    },
    core: {
      cumulativeWork: 1,
      cumulativeBlockUnits: 1,
      blockHeight: 1,
      blockProgress: 1,
      workPerThousandBlocks: 1,
      settledThroughRound: 1,
      authorizationNonce: 1,
    },
    implementation: { codeVersion: 1 },
    source: { blockNumber: 1, blockTimestamp: 1 },
    events: [{ blockNumber: 1, blockTimestamp: 1 }],
  },
  '/v1/settlements': {
    chain: { chainId: 1, deploymentBlock: 1, indexedThroughBlock: 1, safeThroughBlock: 1 },
    summary: {
      settlementCount: 1,
      activeRoundCount: 1,
      workAdded: 1,
      completedBlockCount: 1,
      archivedSettlementCount: 1,
    },
    recentSettlements: [
      {
        previousSettledThroughRound: 1,
        settledThroughRound: 1,
        activeRoundCount: 1,
        workAdded: 1,
        cumulativeWork: 1,
        cumulativeBlockUnits: 1,
        firstCompletedBlock: 1,
        lastCompletedBlock: 1,
        completedBlockCount: 1,
        blockHeight: 1,
        ethereumBlockNumber: 1,
        sqkMintedBaseUnits: 1,
      },
    ],
    buckets: [
      {
        settlementCount: 1,
        activeRoundCount: 1,
        workAdded: 1,
        completedBlockCount: 1,
        sqkMintedBaseUnits: 1,
      },
    ],
    mining: {
      rewardPerBlock: 1,
      supplyCap: 1,
      totalMintedBaseUnits: 1,
      unmintedCapacityBaseUnits: 1,
      processedThroughRound: 1,
      rangeMintedBaseUnits: 1,
      rangeCheckpointCount: 1,
      nextRound: {
        round: 1,
        countedThroughRound: 1,
        previousCumulativeBlockUnits: 1,
        cumulativeBlockUnits: 1,
        completedBlockCount: 1,
        eligibleWeight: 1,
        amountBaseUnits: 1,
      },
      recentCheckpoints: [
        {
          afterRound: 1,
          throughRound: 1,
          completedBlockCount: 1,
          cumulativeWork: 1,
          cumulativeBlockUnits: 1,
          eligibleWeight: 1,
          amountBaseUnits: 1,
          totalMintedBaseUnits: 1,
          ethereumBlockNumber: 1,
        },
      ],
    },
    recentRounds: [{ roundId: 1, sqkMintedBaseUnits: 1 }],
    previousPeriod: { sqkMintedBaseUnits: 1 },
  },
  '/v1/mining/state': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    issuance: {
      mintedBaseUnits: 1,
      tokenSupplyBaseUnits: 1,
      unmintedCapacityBaseUnits: 1,
      closedThroughBlock: 1,
      processedThroughRound: 1,
      lastActivationRound: 1,
      supplyCapBaseUnits: 1,
      paidBaseUnits: 1,
    },
    livePositionCount: 1,
    collection: {
      publicMinted: 1,
      publicAllocation: 1,
      reserveMinted: 1,
      protocolReserve: 1,
      publicPriceBaseUnits: 1,
    },
  },
  '/v1/owners/{address}/miners': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    configuration: {
      genesisTimestamp: 1,
      roundDuration: 1,
      claimLimit: 1,
      levels: [{ weight: 1, cooldownBlocks: 1 }],
    },
    mining: {
      settledThroughRound: 1,
      currentRound: 1,
      completedBlockHeight: 1,
      lastAppliedRound: 1,
      totalWeight: 1,
    },
    summary: {
      positionCount: 1,
      activeWeight: 1,
      targetWeight: 1,
      claimableBaseUnits: 1,
      earnedBaseUnits: 1,
      earnedSevenDayBaseUnits: 1,
    },
    earnings: [{ earnedBaseUnits: 1 }],
    positions: [
      {
        tokenId: 1,
        activeWeight: 1,
        targetWeight: 1,
        pendingRound: 1,
        nextMergeBlock: 1,
        blocksUntilMerge: 1,
        claimableBaseUnits: 1,
        earnedBaseUnits: 1,
        earnedSevenDayBaseUnits: 1,
      },
    ],
  },
  '/v1/owners/{address}/activity': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    activity: [
      { tokenIds: [1], amountBaseUnits: 1, effectiveRound: 1, nextMergeBlock: 1, source: { blockNumber: 1 } },
    ],
    total: 1,
  },
  '/v1/miners/{tokenId}/metadata': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    tokenId: 1,
  },
  '/v2/public/miners/state': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    issuance: {
      mintedBaseUnits: 1,
      tokenSupplyBaseUnits: 1,
      unmintedCapacityBaseUnits: 1,
      mintedThroughBlock: 1,
      mintedThroughRound: 1,
      lastAppliedRound: 1,
    },
    collection: {
      publicMinted: 1,
      publicAllocation: 1,
      reserveMinted: 1,
      protocolReserve: 1,
      publicPriceBaseUnits: 1,
    },
  },
  '/v2/public/miners/portfolio': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    configuration: {
      genesisTimestamp: 1,
      roundDuration: 1,
      claimLimit: 1,
      levels: [{ weight: 1, cooldownBlocks: 1 }],
    },
    mining: {
      settledThroughRound: 1,
      currentRound: 1,
      completedBlockHeight: 1,
      lastAppliedRound: 1,
      totalWeight: 1,
    },
    summary: {
      positionCount: 1,
      activeWeight: 1,
      targetWeight: 1,
      claimableBaseUnits: 1,
      earnedBaseUnits: 1,
      earnedSevenDayBaseUnits: 1,
    },
    earnings: [{ earnedBaseUnits: 1 }],
    positions: [
      {
        tokenId: 1,
        activeWeight: 1,
        targetWeight: 1,
        pendingRound: 1,
        nextMergeBlock: 1,
        blocksUntilMerge: 1,
        claimableBaseUnits: 1,
        earnedBaseUnits: 1,
        earnedSevenDayBaseUnits: 1,
      },
    ],
  },
  '/v2/public/miners/activity': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    activity: [
      { tokenIds: [1], amountBaseUnits: 1, effectiveRound: 1, nextMergeBlock: 1, source: { blockNumber: 1 } },
    ],
    total: 1,
  },
  '/v2/public/miners/metadata/{tokenId}': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    tokenId: 1,
  },
  '/v4/public/settlements': {
    chain: { chainId: 1, deploymentBlock: 1, indexedThroughBlock: 1, safeThroughBlock: 1 },
    summary: {
      settlementCount: 1,
      activeRoundCount: 1,
      workAdded: 1,
      completedBlockCount: 1,
      archivedSettlementCount: 1,
    },
    recentSettlements: [
      {
        previousSettledThroughRound: 1,
        settledThroughRound: 1,
        activeRoundCount: 1,
        workAdded: 1,
        cumulativeWork: 1,
        cumulativeBlockUnits: 1,
        firstCompletedBlock: 1,
        lastCompletedBlock: 1,
        completedBlockCount: 1,
        blockHeight: 1,
        ethereumBlockNumber: 1,
        sqkMintedBaseUnits: 1,
      },
    ],
    buckets: [
      {
        settlementCount: 1,
        activeRoundCount: 1,
        workAdded: 1,
        completedBlockCount: 1,
        sqkMintedBaseUnits: 1,
      },
    ],
    mining: {
      rewardPerBlock: 1,
      supplyCap: 1,
      totalMintedBaseUnits: 1,
      unmintedCapacityBaseUnits: 1,
      processedThroughRound: 1,
      rangeMintedBaseUnits: 1,
      rangeCheckpointCount: 1,
      nextRound: {
        round: 1,
        countedThroughRound: 1,
        previousCumulativeBlockUnits: 1,
        cumulativeBlockUnits: 1,
        completedBlockCount: 1,
        eligibleWeight: 1,
        amountBaseUnits: 1,
      },
      recentCheckpoints: [
        {
          afterRound: 1,
          throughRound: 1,
          completedBlockCount: 1,
          cumulativeWork: 1,
          cumulativeBlockUnits: 1,
          eligibleWeight: 1,
          amountBaseUnits: 1,
          totalMintedBaseUnits: 1,
          ethereumBlockNumber: 1,
        },
      ],
    },
    recentRounds: [{ roundId: 1, sqkMintedBaseUnits: 1 }],
    previousPeriod: { sqkMintedBaseUnits: 1 },
    settlementQueue: {
      buffered: { firstRound: 1, lastRound: 1, roundCount: 1, activeRoundCount: 1, workUnits: 1 },
      projected: {
        cumulativeWork: 1,
        blockHeight: 1,
        currentWork: 1,
        workPerBlock: 1,
        firstCompletedBlock: 1,
        lastCompletedBlock: 1,
        completedBlockCount: 1,
      },
      latestSubmission: {
        previousSettledThroughRound: 1,
        settledThroughRound: 1,
        roundCount: 1,
        activeRoundCount: 1,
        expected: {
          settledThroughRound: 1,
          cumulativeWork: 1,
          blockHeight: 1,
          currentWork: 1,
          workPerBlock: 1,
          firstCompletedBlock: 1,
          lastCompletedBlock: 1,
          completedBlockCount: 1,
        },
      },
    },
  },
  '/v1/events': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    events: [
      {
        source: { chainId: 1, blockNumber: 1, receiptCursor: 1 },
        payload: {
          previousSettledThroughRound: 1,
          settledThroughRound: 1,
          activeRoundCount: 1,
          workAdded: 1,
          completedBlockCount: 1,
          firstCompletedBlock: 1,
          lastCompletedBlock: 1,
          cumulativeWork: 1,
          blockHeight: 1,
          cumulativeBlockUnits: 1,
          afterRound: 1,
          throughRound: 1,
          amountBaseUnits: 1,
          tokenId: 1,
          weight: 1,
          nextMergeBlock: 1,
          firstRound: 1,
          survivorTokenId: 1,
          donorTokenId: 1,
          effectiveRound: 1,
          tokenIds: [1],
          thresholdDistanceMm: 1,
          observedLifetimeDistanceMm: 1,
          observedDayDistanceMm: 1,
          thresholdSpeedMmPerSecond: 1,
          observedSpeedMmPerSecond: 1,
          previousRecordMmPerSecond: 1,
          recordMmPerSecond: 1,
          previousRecordRpmMilli: 1,
          recordRpmMilli: 1,
          observedRpmMilli: 1,
          minimumDailyDistanceMm: 1,
        },
      },
    ],
  },
  '/v2/public/events': {
    chain: {
      chainId: 1,
      deploymentBlock: 1,
      indexedThroughBlock: 1,
      safeThroughBlock: 1,
      economyDeploymentBlock: 1,
    },
    identities: { miningImplementationVersion: 1 },
    events: [
      {
        source: { chainId: 1, blockNumber: 1, receiptCursor: 1 },
        payload: {
          previousSettledThroughRound: 1,
          settledThroughRound: 1,
          activeRoundCount: 1,
          workAdded: 1,
          completedBlockCount: 1,
          firstCompletedBlock: 1,
          lastCompletedBlock: 1,
          cumulativeWork: 1,
          blockHeight: 1,
          cumulativeBlockUnits: 1,
          afterRound: 1,
          throughRound: 1,
          amountBaseUnits: 1,
          tokenId: 1,
          weight: 1,
          nextMergeBlock: 1,
          firstRound: 1,
          survivorTokenId: 1,
          donorTokenId: 1,
          effectiveRound: 1,
          tokenIds: [1],
          thresholdDistanceMm: 1,
          observedLifetimeDistanceMm: 1,
          observedDayDistanceMm: 1,
          thresholdSpeedMmPerSecond: 1,
          observedSpeedMmPerSecond: 1,
          previousRecordMmPerSecond: 1,
          recordMmPerSecond: 1,
          previousRecordRpmMilli: 1,
          recordRpmMilli: 1,
          observedRpmMilli: 1,
          minimumDailyDistanceMm: 1,
        },
      },
    ],
  },
};

export const eventDecimals: Decimals = {
  source: { chainId: 1, blockNumber: 1, receiptCursor: 1 },
  payload: {
    previousSettledThroughRound: 1,
    settledThroughRound: 1,
    activeRoundCount: 1,
    workAdded: 1,
    completedBlockCount: 1,
    firstCompletedBlock: 1,
    lastCompletedBlock: 1,
    cumulativeWork: 1,
    blockHeight: 1,
    cumulativeBlockUnits: 1,
    afterRound: 1,
    throughRound: 1,
    amountBaseUnits: 1,
    tokenId: 1,
    weight: 1,
    nextMergeBlock: 1,
    firstRound: 1,
    survivorTokenId: 1,
    donorTokenId: 1,
    effectiveRound: 1,
    tokenIds: [1],
    thresholdDistanceMm: 1,
    observedLifetimeDistanceMm: 1,
    observedDayDistanceMm: 1,
    thresholdSpeedMmPerSecond: 1,
    observedSpeedMmPerSecond: 1,
    previousRecordMmPerSecond: 1,
    recordMmPerSecond: 1,
    previousRecordRpmMilli: 1,
    recordRpmMilli: 1,
    observedRpmMilli: 1,
    minimumDailyDistanceMm: 1,
  },
};
