// Faults that are put into the program one at a time, to see whether the simulator finds them.

import {
  deepReorganizations,
  fullRejections,
  killsBehindSnapshots,
  largeLogs,
  lostRows,
  lyingNode,
  pausedHolders,
  quietModules,
  recreatedStreams,
  refusedSnapshots,
  removedFronts,
  reorganizationsMeanwhile,
  replicas,
  returningBranches,
  shortReorganizations,
  twoPublishers,
  unknownForks,
  wrongNats,
} from './mutationPlans.mjs';

/** @type {import('./build.mjs').Mutation[]} */
export const mutations = [
  {
    what: 'Rejections that are published already are published again',
    replacements: [
      {
        file: 'streams/pipeline/rejectionLog.ts',
        from: 'if (message.streamCreated !== known.streamCreated || message.sequence > known.sequence)',
        to: '',
      },
    ],
  },
  {
    // Where the first alone is left out, no snapshot lies behind a rejection that waits, so that all of them are made again.
    what: 'Rejections of a cancelled pipeline are forgotten, and a replay covers what is not stored yet',
    plan: fullRejections,
    replacements: [
      {
        file: 'streams/pipeline/rejectionLog.ts',
        from: 'startWith(wrapUnpublished([...unpublished], position)),',
        to: '',
      },
      {
        file: 'deploy/commands/replay/replayPlan.ts',
        from: '    state.last_seq,\n    stored,\n',
        to: '    state.last_seq,\n',
      },
    ],
  },
  {
    what: 'Rows that ClickHouse refuses count as stored',
    replacements: [
      {
        file: 'streams/pipeline/rowWriter.ts',
        from: 'concatMap(insert),',
        to: 'concatMap((row) => insert(row).catch(() => undefined)),',
      },
    ],
  },
  {
    what: 'A retry leaves out one insert more than was acknowledged',
    replacements: [
      {
        file: 'streams/pipeline/rowWriter.ts',
        from: 'current.pending = current.pending.slice(1);',
        to: 'current.pending = current.pending.slice(2);',
      },
    ],
  },
  {
    what: 'The last row of a batch is dropped',
    replacements: [
      {
        file: 'storage/rowInserts.ts',
        from: '  for (const row of rows) {\n    const period',
        to: '  for (const row of rows.length > 1 ? rows.slice(0, -1) : rows) {\n    const period',
      },
    ],
  },
  {
    what: 'The snapshot is saved before the rows that it covers',
    plan: killsBehindSnapshots,
    replacements: [
      {
        file: 'streams/pipeline/streamPipeline.ts',
        from: '    writer?.writeAfter(from.position, owner) ?? passThrough,\n    marks.save,\n',
        to: '    marks.save,\n    writer?.writeAfter(from.position, owner) ?? passThrough,\n',
      },
    ],
  },
  {
    what: 'The message at the position of a snapshot is not compared with the one that was folded',
    replacements: [
      {
        file: 'streams/jetstream/sourceVerification.ts',
        from: 'if (currentDigest !== digest) {',
        to: 'if (currentDigest === null) {',
      },
    ],
  },
  {
    // That it was created at another time alone is not: it ends earlier, or has another message at the position.
    what: 'Nothing is compared before a stream is consumed again',
    replacements: [
      {
        file: 'streams/jetstream/sourceVerification.ts',
        from: '  checkIdentity(stream, info, place);\n',
        to: '',
      },
      {
        file: 'streams/jetstream/sourceVerification.ts',
        from: 'if (digest === null || position <',
        to: 'if (digest !== "" || position <',
      },
    ],
  },
  {
    what: 'A stream that ends before the position is not noticed',
    replacements: [
      {
        file: 'streams/jetstream/sourceVerification.ts',
        from: 'if (info.state.last_seq < place.position) {',
        to: 'if (info.state.last_seq < 0) {',
      },
    ],
  },
  {
    what: 'Rows of messages that the stream has lost are not removed',
    replacements: [
      {
        file: 'streams/follower/restoreFold.ts',
        from: 'if (hasDiverged || isRewinding || isReconfigured)',
        to: 'if (isReconfigured)',
      },
    ],
  },
  {
    what: 'Rows above the snapshot are not compared with the stream',
    replacements: [
      {
        file: 'streams/counter/readingRowOrigins.ts',
        from: "return 'value' in decoded && decoded.value.telemetryId === telemetryId;",
        to: 'return true;',
      },
    ],
  },
  {
    // That increments follow the snapshot of a state that another one has replaced cannot be: what changed since is not known then, and all is saved.
    what: 'Behind a snapshot that could not be saved, the next increment leaves out what that one held',
    plan: refusedSnapshots,
    replacements: [
      {
        file: 'streams/pipeline/stateSaver.ts',
        from: '    last = null;\n    const isNext = before?.number === number - 1 && snapshots',
        to: '    const isNext = before !== null && snapshots',
      },
    ],
  },
  {
    what: 'Consumption resumes one message too late',
    replacements: [
      {
        file: 'streams/jetstream/source/orderedConsumer.ts',
        from: 'opt_start_seq: from.position + 1,',
        to: 'opt_start_seq: from.position + 2,',
      },
    ],
  },
  {
    // Where the lease alone is not looked at, the later epoch ends the process that was replaced.
    what: 'The lease is replaced whoever holds it, and a later epoch is not noticed',
    plan: pausedHolders,
    replacements: [
      {
        file: 'storage/ingestEpochs.ts',
        from: 'if (newest === epoch) return true;',
        to: 'if (newest >= epoch) return true;',
      },
      {
        file: 'streams/ingest/ingestLease.ts',
        from: 'expect: { lastSubjectSequence: sequence },',
        to: '',
      },
    ],
  },
  {
    what: 'A repeated sequence is accepted',
    replacements: [
      {
        file: 'actors/wheel/acceptance.ts',
        from: 'reading.sequence <= bootSequence',
        to: 'reading.sequence < bootSequence',
      },
    ],
  },
  {
    what: 'A round is observed although the counter was reset in it',
    replacements: [
      {
        file: 'actors/wheel/roundFold.ts',
        from: 'reading.counterEpoch === previous.counterEpoch && gapMs <= coveringGapMs',
        to: 'gapMs <= coveringGapMs',
      },
    ],
  },
  {
    what: 'The work of a half hour is that of its last round',
    replacements: [
      {
        file: 'actors/wheel/roundFold.ts',
        from: '    workUnits: bucket.workUnits + workUnits,',
        to: '    workUnits,',
      },
    ],
  },
  {
    what: 'The counter of an earlier epoch is forgotten',
    replacements: [
      {
        file: 'actors/wheel/acceptance.ts',
        from: 'return earlierEpochs.find((mark) => mark.counterEpoch === counterEpoch)?.cumulativeWorkUnits ?? null;',
        to: 'return earlierEpochs.length < 0 ? 0n : null;',
      },
    ],
  },
  {
    what: 'NATS is not reached again for as long as the clock was put back by',
    replacements: [
      {
        file: 'streams/jetstream/reconnectDelay.ts',
        from: 'if (nowMs < askedAtMs) promptLeft = promptAttempts;',
        to: '',
      },
    ],
  },
  {
    what: 'A process is behind for as long as a stream has less than it had at the start',
    replacements: [
      {
        file: 'streams/follower/streamFollower.ts',
        from: '(position) => position >= lastSequence)), source.ends$).pipe(',
        to: '(position) => position >= lastSequence))).pipe(',
      },
    ],
  },
  {
    what: 'Stored readings are ordered by time instead of position',
    replacements: [
      {
        file: 'storage/observations.ts',
        from: '         ORDER BY position LIMIT {limit:UInt32}`',
        to: '         ORDER BY received_at LIMIT {limit:UInt32}`',
      },
    ],
  },
  {
    what: 'A page leaves out the reading between what is stored and what is in memory',
    replacements: [
      {
        file: 'storage/observations.ts',
        from: 'const through = coversAbove.position;',
        to: 'const through = coversAbove.position - 1;',
      },
    ],
  },
  {
    what: 'A signer that was accepted before is accepted again',
    replacements: [
      {
        file: 'actors/settlement/settlementActors.ts',
        from: '      installation.acceptedSigners = rememberId(installation.acceptedSigners, id, storedAtMs);\n',
        to: '',
      },
    ],
  },
  {
    what: 'The tag of the status does not change with the modules',
    plan: quietModules,
    replacements: [
      {
        file: 'http/responses/process/status.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a text of the program.
        from: 'return `${revision}.${digest(modules)}`;',
        to: 'return modules === undefined ? digest(modules) : revision;',
      },
    ],
  },
  {
    what: 'A process is ready however old what it knows of a stream is',
    replacements: [
      {
        file: 'streams/readiness.ts',
        from: 'isReady: isCurrent && isFresh && !isLost,',
        to: 'isReady: isCurrent,',
      },
    ],
  },
  {
    what: 'A block counts as safe with eleven confirmations',
    replacements: [
      {
        file: 'actors/chain/spans/confirmations.ts',
        from: 'export const confirmations = 12n;',
        to: 'export const confirmations = 11n;',
      },
    ],
  },
  {
    what: 'A reorganization leaves the newest safe state of the branch that it replaces',
    plan: deepReorganizations,
    replacements: [
      {
        file: 'actors/chain/fold/followLink.ts',
        from: 'const safe = state.safe.filter(({ block }) => block.number <= forkBlock);',
        to: 'const safe = state.safe.filter(({ block }) => block.number <= forkBlock + 1n);',
      },
    ],
  },
  {
    what: 'A reorganization leaves a block that waits above the fork',
    plan: shortReorganizations,
    replacements: [
      {
        file: 'actors/chain/fold/followLink.ts',
        from: 'unsafe: state.unsafe.filter(({ number }) => number <= forkBlock),',
        to: 'unsafe: state.unsafe.filter(({ number }) => number <= forkBlock + 1n),',
      },
    ],
  },
  {
    what: 'The logs of a block are not compared with the root of its receipts',
    replacements: [
      {
        file: 'streams/indexer/blockProof.ts',
        from: "await expectRoot('receipts', of, of.receiptsRoot, encoded);",
        to: '',
      },
    ],
  },
  {
    // Hashed and not compared, an altered header only links to nothing, and is replaced.
    what: 'The hash of a header is the one that the node names',
    plan: lyingNode,
    replacements: [
      {
        file: 'streams/indexer/blockProof.ts',
        from: 'const hash = keccak256(RLP.encode(members));',
        to: 'const hash = members.length === 0 ? keccak256("0x") : parsed.hash.toLowerCase();',
      },
    ],
  },
  {
    what: 'Transactions are not compared with their root',
    plan: lyingNode,
    replacements: [
      {
        file: 'streams/indexer/blockProof.ts',
        from: "await expectRoot('transactions', of, of.transactionsRoot, encoded);",
        to: '',
      },
    ],
  },
  {
    what: 'The next block is published whoever its parent is',
    plan: reorganizationsMeanwhile,
    replacements: [
      {
        file: 'streams/indexer/blockPublishing.ts',
        from: 'return header.parentHash === before.hash ? header : null;',
        to: 'return header;',
      },
    ],
  },
  {
    what: 'A fork of the node is not noticed',
    plan: shortReorganizations,
    replacements: [
      {
        file: 'streams/indexer/indexerWork.ts',
        from: 'isFork: head !== null && next.parentHash !== head.hash };',
        to: 'isFork: false };',
      },
    ],
  },
  {
    what: 'A span is appended whatever the stream ends with',
    replacements: [
      {
        file: 'streams/indexer/spanPublisher.ts',
        from: 'const expect = { lastSubjectSequence: lastSequence };',
        to: 'const expect = {};',
      },
    ],
  },
  {
    what: 'A block that is announced again after two reorganizations is the same message',
    plan: returningBranches,
    replacements: [
      {
        file: 'streams/indexer/spanPublisher.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a text of the program.
        from: 'const msgID = `${chainId}.${span.fromBlock}.${span.hash}.${span.fork}${part}`;',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a text of the program.
        to: 'const msgID = `${chainId}.${span.fromBlock}.${span.hash}${part}`;',
      },
    ],
  },
  {
    what: 'A transfer leaves the token with its owner before',
    replacements: [
      {
        file: 'actors/chain/handlers/collectionHandlers.ts',
        from: 'const moved = withToken(withoutToken(state, from, tokenId), to, tokenId);',
        to: 'const moved = withToken(state, to, tokenId);',
      },
    ],
  },
  {
    what: 'A merge forgets what the donor has earned',
    replacements: [
      {
        file: 'actors/chain/handlers/miningHandlers.ts',
        from: '      ...closeSegments(donor.segments, now),\n',
        to: '',
      },
    ],
  },
  {
    what: 'What a weight has earned before it counts is not left out',
    replacements: [
      {
        file: 'actors/chain/handlers/miningHandlers.ts',
        from: 'perWeightAtActivation.set(roundId.toString(), accumulatedPerWeight)',
        to: 'perWeightAtActivation.set(roundId.toString(), 0n)',
      },
    ],
  },
  {
    what: 'The last activity of an owner that becomes final is no row',
    replacements: [
      {
        file: 'actors/chain/rows/activityRows.ts',
        from: 'const final = due.map((one): FinalActivity',
        to: 'const final = due.slice(0, -1).map((one): FinalActivity',
      },
    ],
  },
  {
    what: 'A fork below every retained state is taken for the start of a chain',
    plan: deepReorganizations,
    replacements: [
      {
        file: 'actors/chain/fold/followLink.ts',
        from: 'if (mayBeOlder) throw new ForkBelowStates(forkBlock, findOldestBlock(state));\n      return reject',
        to: 'return reject',
      },
    ],
  },
  {
    what: 'Rows of the history of the chain whose messages the stream has lost stay where no snapshot is newer than the loss',
    plan: lostRows,
    replacements: [
      {
        file: 'streams/chain/chainStream.ts',
        from: 'isMessage: ({ time }) => time.getTime() === storedAtMs,',
        to: 'isMessage: () => true,',
      },
    ],
  },
  {
    what: 'What the timelock logged before the deployment is published once, whatever the stream has lost',
    plan: recreatedStreams,
    replacements: [
      {
        file: 'machines/indexerMachine.ts',
        from: "complete: { on: { resumed: { guard: 'hasEarlierLogs', target: 'askingAgain' } } },",
        to: 'complete: {},',
      },
    ],
  },
  // One for each kind of fold, whose values only the reference knows.
  {
    what: 'A lifetime milestone names the distance of its day alone',
    replacements: [
      {
        file: 'actors/wheel/measurementEvents.ts',
        from: 'threshold, observed: lifetimeMm }) as const',
        to: 'threshold, observed: BigInt(dayMm) }) as const',
      },
    ],
  },
  {
    what: 'The first block that a settlement completes is the one before it',
    replacements: [
      {
        file: 'actors/chain/handlers/chainFeed.ts',
        from: 'firstCompletedBlock: hasCompleted ? heightBefore + 1n : null,',
        to: 'firstCompletedBlock: hasCompleted ? heightBefore : null,',
      },
    ],
  },
  {
    what: 'What a settlement completes is counted from the frontier that it reaches',
    replacements: [
      {
        file: 'actors/chain/handlers/coreHandlers.ts',
        from: 'previousCumulativeBlockUnits: state.core.cumulativeBlockUnits,',
        to: 'previousCumulativeBlockUnits: args.cumulativeBlockUnits,',
      },
    ],
  },
  {
    what: 'A checkpoint has the work of the frontier instead of its own',
    replacements: [
      {
        file: 'actors/chain/handlers/miningHandlers.ts',
        from: 'source, ...rest, amountBaseUnits',
        to: 'source, ...rest, cumulativeWork: state.core.cumulativeWork, amountBaseUnits',
      },
    ],
  },
  {
    what: 'A run that has finished began when it finished',
    replacements: [
      {
        file: 'machines/settlementMachine.ts',
        from: "startedAtMs: requireValue(context.unfinishedRun, 'the run that finishes').startedAtMs,",
        to: 'startedAtMs: atMs,',
      },
    ],
  },
  {
    what: 'A closure that is continued is accepted when the first one was',
    replacements: [
      {
        file: 'machines/settlementMachine.ts',
        from: '          closure: ({ event: { firstRound, lastRound, acceptedAtMs } }) => ({\n            firstRound,\n            lastRound,\n            acceptedAtMs,',
        to: '          closure: ({ context, event: { firstRound, lastRound, acceptedAtMs } }) => ({\n            firstRound,\n            lastRound,\n            acceptedAtMs: context.closure?.acceptedAtMs ?? acceptedAtMs,',
      },
    ],
  },
  {
    what: 'A module that is observed later keeps its state',
    replacements: [
      {
        file: 'actors/device/moduleActor.ts',
        from: 'view = reported;',
        to: 'view = { ...reported, state: view.state };',
      },
    ],
  },
  {
    what: 'The median of an even count is the larger one',
    replacements: [
      {
        file: 'actors/statistics/arithmetic.ts',
        from: 'return sorted.length % 2 === 1 ? upper : ',
        to: 'return sorted.length > 0 ? upper : ',
      },
    ],
  },
  {
    what: 'A round that has just ended is not expected yet',
    replacements: [
      {
        file: 'actors/statistics/dayStatistics.ts',
        from: 'return Math.min(roundsPerDay, Math.max(0, Math.floor((generatedAtMs - startMs) / roundMs)));',
        to: 'return Math.min(roundsPerDay, Math.max(0, Math.floor((generatedAtMs - startMs) / roundMs) - 1));',
      },
    ],
  },
  {
    what: 'A wrong NATS is taken for the one that was folded',
    plan: wrongNats,
    replacements: [
      {
        file: 'streams/ingest/lostStreams.ts',
        from: 'if (refused.length === 0) return found;',
        to: 'if (refused.length >= 0) return found;',
      },
    ],
  },
  {
    what: 'Time in which a machine was suspended does not count as time',
    replacements: [
      {
        file: 'streams/readiness.ts',
        from: 'clock.bootMs() - freshAsOfMs',
        to: 'clock.monotonicMs() - freshAsOfMs',
      },
      ...['consumptionWatch', 'messageSource'].map((name) => ({
        file: `streams/jetstream/source/${name}.ts`,
        from: 'const askedAtMs = clock.bootMs();',
        to: 'const askedAtMs = clock.monotonicMs();',
      })),
    ],
  },
  {
    what: 'Rows of an insert that was cut off stay',
    replacements: [
      {
        file: 'streams/follower/restoreFold.ts',
        from: 'else await removeCutOff?.(removableAbove);',
        to: '',
      },
    ],
  },
  {
    what: 'A log that does not fit into a part of its block is left out',
    plan: largeLogs,
    replacements: [
      {
        file: 'streams/indexer/buildSpans.ts',
        from: 'parts.push([]);\n      bytes = 0;',
        to: 'parts.push([]);\n      bytes = 0;\n      continue;',
      },
    ],
  },
  {
    what: 'The hash of a header with members of an unknown fork is believed',
    plan: unknownForks,
    replacements: [
      {
        file: 'streams/indexer/blockProof.ts',
        from: 'if (hash !== parsed.hash.toLowerCase()) {',
        to: "if (hash !== parsed.hash.toLowerCase() && explainHash(answer) === 'it was altered') {",
      },
      {
        file: 'streams/indexer/blockProof.ts',
        from: 'hash: toBlockHash(hash),',
        to: 'hash: toBlockHash(parsed.hash),',
      },
    ],
  },
  {
    what: 'A boot that another one has followed may repeat its sequences',
    plan: twoPublishers,
    replacements: [
      {
        file: 'actors/wheel/acceptance.ts',
        from: 'return earlierBoots.find((mark) => mark.bootId === bootId)?.sequence ?? null;',
        to: 'return earlierBoots.length < 0 ? 0 : null;',
      },
    ],
  },
  {
    what: 'A message that retention has taken is another message at the position of a snapshot',
    plan: removedFronts,
    replacements: [
      {
        file: 'streams/jetstream/sourceVerification.ts',
        from: 'if (digest === null || position < verified.firstSequence) return verified;',
        to: 'if (digest === null) return verified;',
      },
    ],
  },
  {
    what: 'A client of the event stream that has left is counted for ever',
    plan: replicas,
    replacements: [
      {
        file: 'http/server/events/eventStream.ts',
        from: '    counts.change(client.address, -1);\n',
        to: '',
      },
    ],
  },
  {
    what: 'What a replica has folded does not leave the gate',
    plan: replicas,
    replacements: [
      {
        file: 'streams/pipeline/streamPipeline.ts',
        from: 'folded$.pipe(leaveGate(gate), ignoreElements())',
        to: 'folded$.pipe(ignoreElements())',
      },
    ],
  },
  {
    what: 'The event stream listens to the feed when its last client has left',
    plan: replicas,
    replacements: [
      {
        file: 'http/server/events/eventStream.ts',
        from: 'upkeep.add(feed.listen(delivery.broadcastNews));',
        to: 'feed.listen(delivery.broadcastNews);',
      },
    ],
  },
];
