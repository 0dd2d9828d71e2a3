import {
  DiscardPolicy,
  PersistMode,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { type StreamName, streamNames } from '../../../actors/messages/subjects.ts';
import { consumerInactiveMs } from '../consumerInactiveMs.ts';
import { streamTable } from './streamTable.ts';

const nanosPerMs = 1_000_000;
const nanosPerDay = 86_400_000 * nanosPerMs;

/** A setting of a stream that can lose or refuse messages, or keep this service from reading them. */
export interface StreamRisk {
  readonly stream: StreamName;
  /** As JetStream names it. */
  readonly setting: string;
  readonly value: string;
  /** A sentence's end: what the setting does to messages. */
  readonly detail: string;
  readonly remedy: string;
  /** Whether the stream does not keep every message that it stores. */
  readonly isLosing: boolean;
  /** Whether it loses or refuses messages of ordinary operation. An operator may have chosen the others for good reasons. */
  readonly isSevere: boolean;
}

interface RiskContext {
  readonly stream: StreamName;
  /** `MINER_RETENTION_DAYS`: an age that the operator has chosen; 0 keeps all. */
  readonly retentionDays: number;
}

type Judgement = Omit<StreamRisk, 'stream' | 'setting' | 'isLosing'> & { readonly isLosing?: boolean };

interface Rule {
  readonly setting: string;
  readonly streams: readonly StreamName[];
  /** Null if the setting is harmless. */
  readonly judge: (config: StreamConfig, context: RiskContext) => Judgement | null;
}

const folded = streamNames.filter((stream) => streamTable[stream].use === 'folded');
const foldedAndRejected = streamNames.filter((stream) => streamTable[stream].use !== 'lease');

const edit = (stream: StreamName, flags: string) => `nats stream edit ${stream} ${flags}`;
const restoreOtherwise =
  'it cannot be changed: restore the stream from a backup with another setting (deploy/RUNBOOK.md, "MinerStreamSettings")';
const isSet = (bound: number | undefined) => bound !== undefined && bound > 0;

/** A rule about a setting that is on or off. */
function expectFlag(
  setting: keyof StreamConfig,
  expected: boolean,
  streams: readonly StreamName[],
  describe: (stream: StreamName) => Omit<Judgement, 'value'>,
): Rule {
  return {
    setting,
    streams,
    judge: ({ [setting]: flag }, { stream }) => {
      const isOn = flag === true;
      return isOn === expected ? null : { value: String(isOn), ...describe(stream) };
    },
  };
}

/** A rule about a bound of a whole stream. */
function warnOfBound(setting: 'max_msgs' | 'max_bytes', flag: string): Rule {
  return {
    setting,
    streams: folded,
    judge: ({ [setting]: bound, discard }, { stream }) => {
      if (!isSet(bound)) return null;
      const detail =
        discard === DiscardPolicy.New
          ? 'once it is reached, publishers are refused'
          : 'once it is reached, the oldest messages leave, and cannot be folded again';
      const isLosing = discard !== DiscardPolicy.New;
      const remedy = edit(stream, flag);
      return { value: String(bound), detail, remedy, isLosing, isSevere: !streamTable[stream].isAging };
    },
  };
}

function judgeStorage({ storage }: StreamConfig): Judgement | null {
  if (storage !== StorageType.Memory) return null;
  return {
    value: storage,
    detail: 'all messages are gone when nats-server restarts',
    remedy:
      'it cannot be changed or backed up: create the stream again with file storage (deploy/RUNBOOK.md, "NATS has lost data")',
    isLosing: true,
    isSevere: true,
  };
}

function judgeRetention({ retention }: StreamConfig, { stream }: RiskContext): Judgement | null {
  if (retention === RetentionPolicy.Interest)
    return {
      value: retention,
      detail: 'a message that no process reads at that moment is lost, and no message stays once it is read',
      remedy: edit(stream, '--retention=limits'),
      isLosing: true,
      isSevere: true,
    };
  if (retention !== RetentionPolicy.Workqueue) return null;
  return {
    value: retention,
    detail: 'this service cannot read it, and another reader removes what it reads',
    remedy: restoreOtherwise,
    isLosing: true,
    isSevere: true,
  };
}

function judgeAge({ max_age: age }: StreamConfig, { stream, retentionDays }: RiskContext): Judgement | null {
  const { isAging, use } = streamTable[stream];
  const chosen = isAging ? retentionDays * nanosPerDay : 0;
  if (!isSet(age) || (chosen > 0 && age >= chosen)) return null;
  return {
    value: `${Math.round((age / nanosPerDay) * 1_000) / 1_000} days`,
    detail: isAging
      ? `messages leave it earlier than MINER_RETENTION_DAYS=${retentionDays} says, and cannot be folded again`
      : 'spans leave it, and each links to the one before: the chain cannot be folded again',
    remedy: `${edit(stream, '--max-age=0')}, or restart the ingesting process, which sets the age unless the stream is a mirror`,
    isLosing: true,
    isSevere: use === 'folded',
  };
}

function judgePerSubject(config: StreamConfig, { stream }: RiskContext): Judgement | null {
  const { max_msgs_per_subject: bound, discard_new_per_subject: isRefusing } = config;
  if (!isSet(bound)) return null;
  return {
    value: String(bound),
    detail: isRefusing
      ? 'further messages of an installation are refused'
      : 'only the newest messages of each installation stay',
    remedy: edit(stream, '--no-discard-per-subject --max-msgs-per-subject=-1'),
    isLosing: !isRefusing,
    isSevere: true,
  };
}

/** Bounds of streams that hold what this service publishes: the oldest messages may leave them, but none may be refused. */
function judgeDiscard(config: StreamConfig, { stream }: RiskContext): Judgement | null {
  const { discard, max_msgs, max_bytes, discard_new_per_subject: isPerSubject } = config;
  const isBound = isSet(max_msgs) || isSet(max_bytes) || isPerSubject;
  if (discard !== DiscardPolicy.New || !isBound) return null;
  return {
    value: discard,
    detail:
      streamTable[stream].use === 'lease'
        ? 'once it is full, no process can hold the lease'
        : 'once it is full, rejections are refused, and rows and snapshots wait behind them',
    remedy: edit(stream, '--no-discard-per-subject --discard=old'),
    isSevere: true,
  };
}

function judgeSize({ max_msg_size: size }: StreamConfig, { stream }: RiskContext): Judgement | null {
  const needed = streamTable[stream].neededMessageBytes;
  if (!isSet(size) || size >= needed) return null;
  return {
    value: String(size),
    detail: `valid messages have up to ${needed} bytes with their headers, and larger ones are refused`,
    remedy: edit(stream, `--max-msg-size=${needed}`),
    isSevere: true,
  };
}

/** A mirror of a whole stream is allowed, except of a stream that this service publishes to. */
function judgeMirror({ mirror }: StreamConfig, { stream }: RiskContext): Judgement | null {
  if (mirror === undefined) return null;
  const { name, filter_subject: filter, opt_start_seq: sequence = 0, opt_start_time: time } = mirror;
  if (streamTable[stream].use !== 'folded')
    return {
      value: name,
      detail: 'this service cannot publish to a mirror',
      remedy: edit(stream, '--no-mirror'),
      isSevere: true,
    };
  const parts = [
    ...(filter ? [`only ${filter}`] : []),
    ...(sequence > 1 ? [`from message ${sequence} on`] : []),
    ...(time ? [`from ${time} on`] : []),
    ...((mirror.subject_transforms?.length ?? 0) > 0 ? ['with other subjects'] : []),
  ];
  if (parts.length === 0) return null;
  return {
    value: `${name}, ${parts.join(', ')}`,
    detail: 'messages of its origin are missing',
    remedy: 'create the mirror again, of the whole stream and with its subjects',
    isLosing: true,
    isSevere: true,
  };
}

function judgeSources({ sources = [] }: StreamConfig): Judgement | null {
  if (sources.length === 0) return null;
  return {
    value: sources.map(({ name }) => name).join(', '),
    detail: 'it copies messages of other streams, and lacks those that leave them before they are copied',
    remedy: 'let publishers publish to this stream, or make it a mirror of one stream',
    isSevere: false,
  };
}

function judgeTransform(
  { subject_transform: transform }: StreamConfig,
  { stream }: RiskContext,
): Judgement | null {
  if (transform === undefined) return null;
  return {
    value: `${transform.src ?? ''} to ${transform.dest}`,
    detail: 'messages are stored under other subjects, and rejected or not read',
    remedy: edit(stream, '--no-transform'),
    isSevere: true,
  };
}

function judgePersistence({ persist_mode: mode }: StreamConfig): Judgement | null {
  if (mode !== PersistMode.Async) return null;
  return {
    value: mode,
    detail: 'messages are acknowledged before they are written, and lost if nats-server is killed',
    remedy: restoreOtherwise,
    isSevere: false,
  };
}

function judgeConsumers({ max_consumers: max }: StreamConfig): Judgement | null {
  if (!isSet(max)) return null;
  return {
    value: String(max),
    detail: 'processes, self-audits and commands of this service are consumers; further ones cannot read',
    remedy: restoreOtherwise,
    isSevere: false,
  };
}

function judgeInactivity({ consumer_limits: limits }: StreamConfig): Judgement | null {
  const nanos = limits?.inactive_threshold ?? 0;
  if (nanos <= 0 || nanos >= consumerInactiveMs * nanosPerMs) return null;
  return {
    value: `${nanos / nanosPerMs / 1_000} s`,
    detail: `this service cannot read, since its consumers ask for ${consumerInactiveMs / 1_000} s`,
    remedy: 'remove the limit with `nats stream edit --config`',
    isSevere: true,
  };
}

/** All rules, in the order in which they are reported. */
const rules: readonly Rule[] = [
  { setting: 'storage', streams: foldedAndRejected, judge: judgeStorage },
  { setting: 'retention', streams: streamNames, judge: judgeRetention },
  { setting: 'max_age', streams: foldedAndRejected, judge: judgeAge },
  warnOfBound('max_msgs', '--max-msgs=-1'),
  warnOfBound('max_bytes', '--max-bytes=-1'),
  { setting: 'max_msgs_per_subject', streams: folded, judge: judgePerSubject },
  {
    setting: 'discard',
    streams: streamNames.filter((stream) => !folded.includes(stream)),
    judge: judgeDiscard,
  },
  { setting: 'max_msg_size', streams: foldedAndRejected, judge: judgeSize },
  expectFlag('no_ack', false, streamNames, (stream) => ({
    detail: streamTable[stream].isOwn
      ? 'this service waits for acknowledgements, and never learns that its message is stored'
      : 'publishers do not learn whether a message is stored, and do not repeat one that was lost or refused',
    remedy: edit(stream, '--ack'),
    isSevere: streamTable[stream].isOwn,
  })),
  expectFlag('sealed', false, streamNames, () => ({
    detail: 'all further messages are refused',
    remedy: restoreOtherwise,
    isSevere: true,
  })),
  { setting: 'mirror', streams: streamNames, judge: judgeMirror },
  { setting: 'sources', streams: streamNames, judge: judgeSources },
  { setting: 'subject_transform', streams: streamNames, judge: judgeTransform },
  expectFlag('allow_rollup_hdrs', false, folded, (stream) => ({
    detail: 'a publisher can remove all earlier messages, with the header Nats-Rollup',
    remedy: edit(stream, '--no-allow-rollup'),
    isSevere: false,
  })),
  expectFlag('allow_msg_ttl', false, folded, () => ({
    detail: 'a publisher can let its message expire, with the header Nats-TTL',
    remedy: restoreOtherwise,
    isSevere: false,
  })),
  expectFlag('allow_msg_schedules', false, folded, () => ({
    detail: 'a message with the header Nats-Schedule leaves the stream when its time has come',
    remedy: restoreOtherwise,
    isSevere: false,
  })),
  expectFlag('allow_msg_counter', false, streamNames, () => ({
    detail: 'all messages but increments of counters are refused',
    remedy: restoreOtherwise,
    isSevere: true,
  })),
  { setting: 'persist_mode', streams: folded, judge: judgePersistence },
  { setting: 'max_consumers', streams: folded, judge: judgeConsumers },
  { setting: 'consumer_limits.inactive_threshold', streams: folded, judge: judgeInactivity },
  expectFlag('deny_delete', true, folded, (stream) => ({
    detail: 'a user with the right to it can delete messages',
    remedy: edit(stream, '--deny-delete'),
    isSevere: false,
  })),
  expectFlag('deny_purge', true, folded, (stream) => ({
    detail: 'a user with the right to it can remove all messages',
    remedy: edit(stream, '--deny-purge'),
    isSevere: false,
  })),
];

/** Finds what can lose or refuse messages in the settings of a stream. The log, the metric and `miner doctor` use this list. */
export function findStreamRisks(config: StreamConfig, context: RiskContext): readonly StreamRisk[] {
  const { stream } = context;
  return rules.flatMap(({ setting, streams, judge }) => {
    const judgement = streams.includes(stream) ? judge(config, context) : null;
    return judgement === null ? [] : [{ stream, setting, isLosing: false, ...judgement }];
  });
}
