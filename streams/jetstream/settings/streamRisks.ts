import {
  DiscardPolicy,
  PersistMode,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { StreamName } from '../../../actors/messages/subjects.ts';
import { dayMs } from '../../../actors/schemas/durations.ts';
import { consumerInactiveMs } from '../consumerInactiveMs.ts';
import { streamTable } from './streamTable.ts';

const nanosPerMs = 1_000_000;
export const nanosPerDay = dayMs * nanosPerMs;

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

/** A risk of a stream that has it if `isPresent`. By default the value is the setting's, and the risk neither loses messages nor is severe. */
interface PossibleRisk
  extends Pick<StreamRisk, 'setting' | 'detail' | 'remedy'>,
    Partial<Pick<StreamRisk, 'value' | 'isLosing' | 'isSevere'>> {
  readonly isPresent: boolean;
}

const restoreOtherwise =
  'it cannot be changed: restore the stream from a backup with another setting (deploy/RUNBOOK.md, "MinerStreamSettings")';
const isSet = (bound = 0) => bound > 0;

/**
 * Finds what can lose or refuse messages in the settings of a stream. The log, the metric and `miner doctor` use this list.
 *
 * @param retentionDays `MINER_RETENTION_DAYS`: an age that the operator has chosen; 0 keeps all.
 */
export function findStreamRisks(
  config: StreamConfig,
  { stream, retentionDays }: { readonly stream: StreamName; readonly retentionDays: number },
): readonly StreamRisk[] {
  return listRisks(config, stream, retentionDays)
    .filter(({ isPresent }) => isPresent)
    .map(({ isPresent: _, ...risk }) => {
      const { [risk.setting as keyof StreamConfig]: value = false } = config;
      return { stream, value: String(value), isLosing: false, isSevere: false, ...risk };
    });
}

/** All risks, in the order in which they are reported. */
function listRisks(config: StreamConfig, stream: StreamName, retentionDays: number): readonly PossibleRisk[] {
  const { use, isAging, isOwn, neededMessageBytes } = streamTable[stream];
  const isFolded = use === 'folded';
  const edit = (flags: string) => `nats stream edit ${stream} ${flags}`;
  const { max_age: age, mirror, sources = [], subject_transform: transform } = config;
  const isRefusing = config.discard === DiscardPolicy.New;
  const isRefusingPerSubject = config.discard_new_per_subject === true;
  const chosenAge = isAging ? retentionDays * nanosPerDay : 0;
  const inactiveNanos = config.consumer_limits?.inactive_threshold ?? 0;
  const missing = describeMissing(mirror);
  const wholeBound = {
    detail: isRefusing
      ? 'once it is reached, publishers are refused'
      : 'once it is reached, the oldest messages leave, and cannot be folded again',
    isLosing: !isRefusing,
    isSevere: !isAging,
  };
  return [
    {
      setting: 'storage',
      isPresent: use !== 'lease' && config.storage === StorageType.Memory,
      detail: 'all messages are gone when nats-server restarts',
      remedy:
        'it cannot be changed or backed up: create the stream again with file storage (deploy/RUNBOOK.md, "NATS has lost data")',
      isLosing: true,
      isSevere: true,
    },
    {
      setting: 'retention',
      isPresent: config.retention === RetentionPolicy.Interest,
      detail: 'a message that no process reads at that moment is lost, and no message stays once it is read',
      remedy: edit('--retention=limits'),
      isLosing: true,
      isSevere: true,
    },
    {
      setting: 'retention',
      isPresent: config.retention === RetentionPolicy.Workqueue,
      detail: 'this service cannot read it, and another reader removes what it reads',
      remedy: restoreOtherwise,
      isLosing: true,
      isSevere: true,
    },
    {
      setting: 'max_age',
      isPresent: use !== 'lease' && isSet(age) && (chosenAge === 0 || age < chosenAge),
      value: `${Math.round((age / nanosPerDay) * 1_000) / 1_000} days`,
      detail: isAging
        ? `messages leave it earlier than MINER_RETENTION_DAYS=${retentionDays} says, and cannot be folded again`
        : 'spans leave it, and each links to the one before: the chain cannot be folded again',
      remedy: `${edit('--max-age=0')}, or restart the ingesting process, which sets the age unless the stream is a mirror`,
      isLosing: true,
      isSevere: isFolded,
    },
    {
      setting: 'max_msgs',
      isPresent: isFolded && isSet(config.max_msgs),
      remedy: edit('--max-msgs=-1'),
      ...wholeBound,
    },
    {
      setting: 'max_bytes',
      isPresent: isFolded && isSet(config.max_bytes),
      remedy: edit('--max-bytes=-1'),
      ...wholeBound,
    },
    {
      setting: 'max_msgs_per_subject',
      isPresent: isFolded && isSet(config.max_msgs_per_subject),
      detail: isRefusingPerSubject
        ? 'further messages of an installation are refused'
        : 'only the newest messages of each installation stay',
      remedy: edit('--no-discard-per-subject --max-msgs-per-subject=-1'),
      isLosing: !isRefusingPerSubject,
      isSevere: true,
    },
    {
      // Of what this service publishes, the oldest messages may leave, but none may be refused.
      setting: 'discard',
      isPresent:
        !isFolded &&
        isRefusing &&
        (isSet(config.max_msgs) || isSet(config.max_bytes) || isRefusingPerSubject),
      detail:
        use === 'lease'
          ? 'once it is full, no process can hold the lease'
          : 'once it is full, rejections are refused, and rows and snapshots wait behind them',
      remedy: edit('--no-discard-per-subject --discard=old'),
      isSevere: true,
    },
    {
      setting: 'max_msg_size',
      isPresent: use !== 'lease' && isSet(config.max_msg_size) && config.max_msg_size < neededMessageBytes,
      detail: `valid messages have up to ${neededMessageBytes} bytes with their headers, and larger ones are refused`,
      remedy: edit(`--max-msg-size=${neededMessageBytes}`),
      isSevere: true,
    },
    {
      setting: 'no_ack',
      isPresent: config.no_ack === true,
      detail: isOwn
        ? 'this service waits for acknowledgements, and never learns that its message is stored'
        : 'publishers do not learn whether a message is stored, and do not repeat one that was lost or refused',
      remedy: edit('--ack'),
      isSevere: isOwn,
    },
    {
      setting: 'sealed',
      isPresent: config.sealed === true,
      detail: 'all further messages are refused',
      remedy: restoreOtherwise,
      isSevere: true,
    },
    {
      setting: 'mirror',
      isPresent: mirror !== undefined && !isFolded,
      value: mirror?.name ?? '',
      detail: 'this service cannot publish to a mirror',
      remedy: edit('--no-mirror'),
      isSevere: true,
    },
    {
      setting: 'mirror',
      isPresent: isFolded && missing.length > 0,
      value: `${mirror?.name}, ${missing.join(', ')}`,
      detail: 'messages of its origin are missing',
      remedy: 'create the mirror again, of the whole stream and with its subjects',
      isLosing: true,
      isSevere: true,
    },
    {
      setting: 'sources',
      isPresent: sources.length > 0,
      value: sources.map(({ name }) => name).join(', '),
      detail: 'it copies messages of other streams, and lacks those that leave them before they are copied',
      remedy: 'let publishers publish to this stream, or make it a mirror of one stream',
    },
    {
      setting: 'subject_transform',
      isPresent: transform !== undefined,
      value: `${transform?.src ?? ''} to ${transform?.dest}`,
      detail: 'messages are stored under other subjects, and rejected or not read',
      remedy: edit('--no-transform'),
      isSevere: true,
    },
    {
      setting: 'allow_rollup_hdrs',
      isPresent: isFolded && config.allow_rollup_hdrs === true,
      detail: 'a publisher can remove all earlier messages, with the header Nats-Rollup',
      remedy: edit('--no-allow-rollup'),
    },
    {
      setting: 'allow_msg_ttl',
      isPresent: isFolded && config.allow_msg_ttl === true,
      detail: 'a publisher can let its message expire, with the header Nats-TTL',
      remedy: restoreOtherwise,
    },
    {
      setting: 'allow_msg_schedules',
      isPresent: isFolded && config.allow_msg_schedules === true,
      detail: 'a message with the header Nats-Schedule leaves the stream when its time has come',
      remedy: restoreOtherwise,
    },
    {
      setting: 'allow_msg_counter',
      isPresent: config.allow_msg_counter === true,
      detail: 'all messages but increments of counters are refused',
      remedy: restoreOtherwise,
      isSevere: true,
    },
    {
      setting: 'persist_mode',
      isPresent: isFolded && config.persist_mode === PersistMode.Async,
      detail: 'messages are acknowledged before they are written, and lost if nats-server is killed',
      remedy: restoreOtherwise,
    },
    {
      setting: 'max_consumers',
      isPresent: isFolded && isSet(config.max_consumers),
      detail: 'processes, self-audits and commands of this service are consumers; further ones cannot read',
      remedy: restoreOtherwise,
    },
    {
      setting: 'consumer_limits.inactive_threshold',
      isPresent: isFolded && isSet(inactiveNanos) && inactiveNanos < consumerInactiveMs * nanosPerMs,
      value: `${inactiveNanos / nanosPerMs / 1_000} s`,
      detail: `this service cannot read, since its consumers ask for ${consumerInactiveMs / 1_000} s`,
      remedy: 'remove the limit with `nats stream edit --config`',
      isSevere: true,
    },
    {
      setting: 'deny_delete',
      isPresent: isFolded && config.deny_delete !== true,
      detail: 'a user with the right to it can delete messages',
      remedy: edit('--deny-delete'),
    },
    {
      setting: 'deny_purge',
      isPresent: isFolded && config.deny_purge !== true,
      detail: 'a user with the right to it can remove all messages',
      remedy: edit('--deny-purge'),
    },
  ];
}

/** Says what a mirror lacks of its origin. A mirror of the whole stream lacks nothing. */
function describeMissing(mirror: StreamConfig['mirror']): string[] {
  const { filter_subject: filter, opt_start_seq: sequence = 0, opt_start_time: time } = mirror ?? {};
  return [
    ...(filter ? [`only ${filter}`] : []),
    ...(sequence > 1 ? [`from message ${sequence} on`] : []),
    ...(time ? [`from ${time} on`] : []),
    ...((mirror?.subject_transforms?.length ?? 0) > 0 ? ['with other subjects'] : []),
  ];
}
