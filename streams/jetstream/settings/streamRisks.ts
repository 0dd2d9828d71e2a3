import type { StreamName } from '../../../actors/messages/subjects.ts';
import { dayMs } from '../../../actors/schemas/durations.ts';
import { consumerInactiveMs, type StreamConfig } from '../../nats/streamPort.ts';
import { streamTable } from './streamTable.ts';

const nanosPerMs = 1_000_000;
const nanosPerDay = dayMs * nanosPerMs;

interface Risk {
  /** A sentence's end: what the setting does to messages. */
  readonly detail: string;
  readonly remedy: string;
  /** Whether it loses or refuses messages of ordinary operation. An operator may have chosen the others for good reasons. */
  readonly isSevere: boolean;
}

/** A setting of a stream that can lose or refuse messages, or keep this service from reading them. */
export interface StreamRisk extends Risk {
  readonly stream: StreamName;
  /** As JetStream names it. */
  readonly setting: string;
  readonly value: string;
}

const risk = (detail: string, remedy: string, isSevere = true): Risk => ({ detail, remedy, isSevere });
const may = (detail: string, remedy: string) => risk(detail, remedy, false);

/** What rules know of a stream, in addition to its settings. */
interface Judged {
  readonly isFolded: boolean;
  readonly isLease: boolean;
  /** Whether this service publishes to it. */
  readonly isOwn: boolean;
  /** Whether `MINER_RETENTION_DAYS` applies; 0 keeps all. */
  readonly isAging: boolean;
  readonly retentionDays: number;
  readonly neededBytes: number;
  /** Command that changes settings of the stream. */
  readonly edit: (flags: string) => string;
}

type Rule = (config: StreamConfig, judged: Judged) => Risk | false | undefined;

const restore =
  'it cannot be changed: restore the stream from a backup with another setting (deploy/RUNBOOK.md, "MinerStreamSettings")';
const isSet = (bound = 0) => bound > 0;

/** When a setting is a risk, and what it does: in the order in which risks are reported. */
const rules: Readonly<Record<string, Rule>> = {
  storage: ({ storage }, { isLease }) =>
    !isLease &&
    storage === 'memory' &&
    risk(
      'all messages are gone when nats-server restarts',
      'it cannot be changed or backed up: create the stream again with file storage (deploy/RUNBOOK.md, "NATS has lost data")',
    ),
  retention: ({ retention }, { edit }) => {
    const unread =
      'a message that no process reads at that moment is lost, and no message stays once it is read';
    if (retention === 'interest') return risk(unread, edit('--retention=limits'));
    const removed = 'this service cannot read it, and another reader removes what it reads';
    return retention === 'workqueue' && risk(removed, restore);
  },
  max_age: ({ max_age: age }, { isLease, isAging, isFolded, retentionDays: days, edit }) => {
    if (isLease || !isSet(age) || (isAging && days > 0 && age >= days * nanosPerDay)) return false;
    const early = `messages leave it earlier than MINER_RETENTION_DAYS=${days} says, and cannot be folded again`;
    const unlinked = 'spans leave it, and each links to the one before: the chain cannot be folded again';
    const restart = 'or restart the ingesting process, which sets the age unless the stream is a mirror';
    return risk(isAging ? early : unlinked, `${edit('--max-age=0')}, ${restart}`, isFolded);
  },
  max_msgs: (config, judged) => isSet(config.max_msgs) && judgeBound(config, judged, '--max-msgs=-1'),
  max_bytes: (config, judged) => isSet(config.max_bytes) && judgeBound(config, judged, '--max-bytes=-1'),
  max_msgs_per_subject: ({ max_msgs_per_subject: max, discard_new_per_subject }, { isFolded, edit }) => {
    if (!isFolded || !isSet(max)) return false;
    const remedy = edit('--no-discard-per-subject --max-msgs-per-subject=-1');
    return discard_new_per_subject === true
      ? risk('further messages of an installation are refused', remedy)
      : risk('only the newest messages of each installation stay', remedy);
  },
  // Of what this service publishes, the oldest messages may leave, but none may be refused.
  discard: (config, { isFolded, isLease, edit }) => {
    const { max_msgs, max_bytes, discard, discard_new_per_subject: isPerSubject } = config;
    const isBounded = isSet(max_msgs) || isSet(max_bytes) || isPerSubject === true;
    if (isFolded || discard !== 'new' || !isBounded) return false;
    const unheld = 'once it is full, no process can hold the lease';
    const waiting = 'once it is full, rejections are refused, and rows and snapshots wait behind them';
    return risk(isLease ? unheld : waiting, edit('--no-discard-per-subject --discard=old'));
  },
  max_msg_size: ({ max_msg_size: max }, { neededBytes, edit }) =>
    isSet(max) &&
    max < neededBytes &&
    risk(
      `valid messages have up to ${neededBytes} bytes with their headers, and larger ones are refused`,
      edit(`--max-msg-size=${neededBytes}`),
    ),
  no_ack: ({ no_ack }, { isOwn, edit }) => {
    const own = 'this service waits for acknowledgements, and never learns that its message is stored';
    const others =
      'publishers do not learn whether a message is stored, and do not repeat one that was lost or refused';
    return no_ack === true && risk(isOwn ? own : others, edit('--ack'), isOwn);
  },
  sealed: ({ sealed }) => sealed && risk('all further messages are refused', restore),
  mirror: ({ mirror }, { isFolded, edit }) => {
    if (mirror === undefined) return false;
    if (!isFolded) return risk('this service cannot publish to a mirror', edit('--no-mirror'));
    const remedy = 'create the mirror again, of the whole stream and with its subjects';
    return listMissing(mirror).length > 0 && risk('messages of its origin are missing', remedy);
  },
  sources: ({ sources = [] }) =>
    sources.length > 0 &&
    may(
      'it copies messages of other streams, and lacks those that leave them before they are copied',
      'let publishers publish to this stream, or make it a mirror of one stream',
    ),
  subject_transform: ({ subject_transform: transform }, { edit }) => {
    const detail = 'messages are stored under other subjects, and rejected or not read';
    return transform !== undefined && risk(detail, edit('--no-transform'));
  },
  allow_rollup_hdrs: ({ allow_rollup_hdrs: isAllowed }, { isFolded, edit }) => {
    const detail = 'a publisher can remove all earlier messages, with the header Nats-Rollup';
    return isFolded && isAllowed && may(detail, edit('--no-allow-rollup'));
  },
  allow_msg_ttl: ({ allow_msg_ttl: isAllowed }, { isFolded }) =>
    isFolded &&
    isAllowed === true &&
    may('a publisher can let its message expire, with the header Nats-TTL', restore),
  allow_msg_schedules: ({ allow_msg_schedules: isAllowed }, { isFolded }) =>
    isFolded &&
    isAllowed === true &&
    may('a message with the header Nats-Schedule leaves the stream when its time has come', restore),
  allow_msg_counter: ({ allow_msg_counter: isAllowed }) =>
    isAllowed && risk('all messages but increments of counters are refused', restore),
  persist_mode: ({ persist_mode: mode }, { isFolded }) =>
    isFolded &&
    mode === 'async' &&
    may('messages are acknowledged before they are written, and lost if nats-server is killed', restore),
  max_consumers: ({ max_consumers: max }, { isFolded }) =>
    isFolded &&
    isSet(max) &&
    may('processes and commands of this service are consumers; further ones cannot read', restore),
  'consumer_limits.inactive_threshold': ({ consumer_limits: limits }, { isFolded }) => {
    const nanos = limits?.inactive_threshold ?? 0;
    const detail = `this service cannot read, since its consumers ask for ${consumerInactiveMs / 1_000} s`;
    const isLow = isFolded && isSet(nanos) && nanos < consumerInactiveMs * nanosPerMs;
    return isLow && risk(detail, 'remove the limit with `nats stream edit --config`');
  },
  deny_delete: ({ deny_delete: isDenied }, { isFolded, edit }) =>
    isFolded &&
    isDenied !== true &&
    may('a user with the right to it can delete messages', edit('--deny-delete')),
  deny_purge: ({ deny_purge: isDenied }, { isFolded, edit }) =>
    isFolded &&
    isDenied !== true &&
    may('a user with the right to it can remove all messages', edit('--deny-purge')),
};

/** Values that are no plain ones. */
const values: Readonly<Record<string, (config: StreamConfig) => string>> = {
  max_age: ({ max_age }) => `${Math.round((max_age / nanosPerDay) * 1_000) / 1_000} days`,
  mirror: ({ mirror }) => [mirror?.name, ...listMissing(mirror)].join(', '),
  sources: ({ sources = [] }) => sources.map(({ name }) => name).join(', '),
  subject_transform: ({ subject_transform: { src = '', dest } = {} }) => `${src} to ${dest}`,
  'consumer_limits.inactive_threshold': ({ consumer_limits: limits }) =>
    `${(limits?.inactive_threshold ?? 0) / nanosPerMs / 1_000} s`,
};

/**
 * Finds what can lose or refuse messages in the settings of a stream. The log, the metric and `miner doctor` use this list.
 *
 * @param retentionDays `MINER_RETENTION_DAYS`: an age that the operator has chosen; 0 keeps all.
 */
export function findStreamRisks(
  config: StreamConfig,
  { stream, retentionDays }: { readonly stream: StreamName; readonly retentionDays: number },
): readonly StreamRisk[] {
  const { use, neededMessageBytes: neededBytes, ...traits } = streamTable[stream];
  const edit = (flags: string) => `nats stream edit ${stream} ${flags}`;
  const uses = { isFolded: use === 'folded', isLease: use === 'lease' };
  return Object.entries(rules).flatMap(([setting, judge]) => {
    const risk = judge(config, { ...traits, ...uses, neededBytes, retentionDays, edit });
    if (!risk) return [];
    const { [setting as keyof StreamConfig]: plain = false } = config;
    return [{ stream, setting, value: values[setting]?.(config) ?? String(plain), ...risk }];
  });
}

/** Judges a bound on the number or the size of all messages. */
function judgeBound({ discard }: StreamConfig, { isFolded, isAging, edit }: Judged, flags: string) {
  if (!isFolded) return false;
  return discard === 'new'
    ? risk('once it is reached, publishers are refused', edit(flags), !isAging)
    : risk(
        'once it is reached, the oldest messages leave, and cannot be folded again',
        edit(flags),
        !isAging,
      );
}

/** Says what a mirror lacks of its origin. A mirror of the whole stream lacks nothing. */
function listMissing(mirror: StreamConfig['mirror']): string[] {
  const { filter_subject: filter, opt_start_seq: sequence = 0, opt_start_time: time } = mirror ?? {};
  return [
    ...(filter ? [`only ${filter}`] : []),
    ...(sequence > 1 ? [`from message ${sequence} on`] : []),
    ...(time ? [`from ${time} on`] : []),
    ...((mirror?.subject_transforms?.length ?? 0) > 0 ? ['with other subjects'] : []),
  ];
}
