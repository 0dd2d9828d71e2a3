// Faults that are put into the program one at a time, to see whether the simulator finds them.

/** @type {(import('./build.mjs').Replacement & { what: string })[]} */
export const mutations = [
  {
    what: 'Rejections that are published already are published again',
    file: 'streams/jetstream/rejectionLog.ts',
    from: '    if (isPublished(message)) return;\n',
    to: '',
  },
  {
    what: 'Rejections of a cancelled pipeline are forgotten',
    file: 'streams/jetstream/rejectionLog.ts',
    from: 'startWith(wrapUnpublished([...unpublished], position)),',
    to: '',
  },
  {
    what: 'Rows that ClickHouse refuses count as stored',
    file: 'streams/rowWriter.ts',
    from: 'concatMap(insert),',
    to: 'concatMap((row) => insert(row).catch(() => undefined)),',
  },
  {
    what: 'A retry leaves out one insert more than was acknowledged',
    file: 'streams/rowWriter.ts',
    from: 'current.pending = current.pending.slice(1);',
    to: 'current.pending = current.pending.slice(2);',
  },
  {
    what: 'The last row of a batch is dropped',
    file: 'storage/rowInserts.ts',
    from: '    for (const row of rows) {\n      const period',
    to: '    for (const row of rows.length > 1 ? rows.slice(0, -1) : rows) {\n      const period',
  },
  {
    what: 'The snapshot is saved before the rows that it covers',
    file: 'streams/streamPipeline.ts',
    from: '    writer?.writeAfter(from.position) ?? passThrough,\n    marks.save,\n',
    to: '    marks.save,\n    writer?.writeAfter(from.position) ?? passThrough,\n',
  },
  {
    what: 'The message at the position of a snapshot is not compared with the one that was folded',
    file: 'streams/jetstream/sourceVerification.ts',
    from: 'if (currentDigest !== digest) {',
    to: 'if (currentDigest === "") {',
  },
  {
    what: 'A stream that was created anew is taken for the one that was folded',
    file: 'streams/jetstream/sourceVerification.ts',
    from: 'if (checkpoint.streamCreated !== null && checkpoint.streamCreated !== info.created) {',
    to: 'if (checkpoint.streamCreated === "") {',
  },
  {
    what: 'A stream that ends before the position is not noticed',
    file: 'streams/jetstream/sourceVerification.ts',
    from: 'if (info.state.last_seq < checkpoint.position) {',
    to: 'if (info.state.last_seq < 0) {',
  },
  {
    what: 'Rows of messages that the stream has lost are not removed',
    file: 'streams/streamFollower.ts',
    from: 'if (hasDiverged || isRewinding || reconfigured) await removeAbove(position);',
    to: 'if (reconfigured) await removeAbove(position);',
  },
  {
    what: 'Rows above the snapshot are not compared with the stream',
    file: 'streams/followers.ts',
    from: "return 'rejection' in decoded || decoded.value.telemetryId !== telemetryId;",
    to: 'return false;',
  },
  {
    what: 'After another state was restored, increments follow the snapshot of the one before',
    file: 'streams/stateSaver.ts',
    from: '    reset: () => {\n      saved = null;\n    },',
    to: '    reset: () => undefined,',
  },
  {
    what: 'Consumption resumes one message too late',
    file: 'streams/jetstream/messageSource.ts',
    from: 'opt_start_seq: from.position + 1,',
    to: 'opt_start_seq: from.position + 2,',
  },
  {
    what: 'The lease is replaced whoever holds it',
    file: 'streams/jetstream/ingestLease.ts',
    from: 'expect: { lastSubjectSequence: sequence },',
    to: '',
  },
  {
    what: 'A repeated sequence is accepted',
    file: 'actors/wheel/acceptance.ts',
    from: 'reading.sequence <= bootSequence',
    to: 'reading.sequence < bootSequence',
  },
  {
    what: 'A round is observed although the counter began anew in it',
    file: 'actors/wheel/roundFold.ts',
    from: 'reading.counterEpoch === previous.counterEpoch && gapMs <= coveringGapMs',
    to: 'gapMs <= coveringGapMs',
  },
  {
    what: 'The work of a half hour is that of its last round',
    file: 'actors/wheel/roundFold.ts',
    from: '    workUnits: bucket.workUnits + workUnits,',
    to: '    workUnits,',
  },
  {
    what: 'The counter of an earlier epoch is forgotten',
    file: 'actors/wheel/acceptance.ts',
    from: 'return earlierEpochs.find((mark) => mark.counterEpoch === counterEpoch)?.cumulativeWorkUnits ?? null;',
    to: 'return earlierEpochs.length < 0 ? 0n : null;',
  },
  {
    what: 'NATS is not reached again for as long as the clock was put back by',
    file: 'streams/jetstream/reconnectDelay.ts',
    from: 'if (nowMs < askedAtMs) promptLeft = promptAttempts;',
    to: '',
  },
  {
    what: 'A process is behind for as long as a stream has less than it had at the start',
    file: 'streams/streamFollower.ts',
    from: 'if (target !== null) target = Math.min(target, position);',
    to: '',
  },
  {
    what: 'Stored readings are ordered by time instead of position',
    file: 'storage/observations.ts',
    from: '         ORDER BY position LIMIT {limit:UInt32}`',
    to: '         ORDER BY received_at LIMIT {limit:UInt32}`',
  },
  {
    what: 'A page leaves out the reading between what is stored and what is in memory',
    file: 'storage/observations.ts',
    from: 'const through = coversAbove.position;',
    to: 'const through = coversAbove.position - 1;',
  },
  {
    what: 'A signer that was accepted before is accepted again',
    file: 'actors/settlement/settlementActors.ts',
    from: '      pipeline.acceptedSigners = rememberId(pipeline.acceptedSigners, id, storedAtMs);\n',
    to: '',
  },
  {
    what: 'The tag of the status does not change with the modules',
    file: 'http/responses/status.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a text of the program.
    from: 'return `${revision}.${digest(modules)}`;',
    to: 'return modules === undefined ? digest(modules) : revision;',
  },
  {
    what: 'A process is ready however old what it knows of a stream is',
    file: 'streams/readiness.ts',
    from: 'isReady: isCaughtUp && !isRebuilding && isFresh,',
    to: 'isReady: isCaughtUp && !isRebuilding,',
  },
];
