import type { ComponentChildren } from 'preact';
import { formatDay } from '../../addresses/days.ts';
import { classifyDays, findKnown } from '../charts/observed.ts';
import { findAvailable } from '../components/Available.tsx';
import { NextBatch } from '../components/Expected.tsx';
import { To } from '../components/Linked.tsx';
import { usePage } from '../components/pageContext.ts';
import { Age } from '../components/Time.tsx';
import { count, formatInteger, formatPercent } from '../format/numbers.ts';
import { toRound } from '../format/sentence.ts';
import { coverages, explain, explainProjection } from '../format/words.ts';
import type { Part } from '../problems.ts';
import { corePath, settlementsPath, statisticsPath, statusPath } from '../resources.ts';
import { dayMs, findGenesisMs } from '../rounds.ts';

const range = '30d';
/** Why nothing is known of a part whose state cannot be read. */
const unread = 'database_unavailable';

interface DayMark {
  readonly key: string;
  readonly kind: 'full' | 'part' | 'none' | 'unknown';
  readonly text: string;
}

export function StatusView() {
  return (
    <section aria-labelledby="status">
      <h1 id="status">Status</h1>
      <p class="lead">
        Work passes through four parts. A day that is not drawn is not recorded, which does not mean that
        nothing happened.
      </p>
      <ol class="parts">
        <Wheel />
        <Oracle />
        <Settlement />
        <Chain />
      </ol>
    </section>
  );
}

interface PartRowProps {
  readonly part: Part;
  readonly name: string;
  /** Whether enough can be read to see a problem. */
  readonly isKnown: boolean;
  /** Empty if its days are not recorded. */
  readonly days?: readonly DayMark[];
  readonly children: ComponentChildren;
}

function PartRow({ part, name, isKnown, days = [], children }: PartRowProps) {
  const problem = usePage().problems.find((one) => one.part === part);
  return (
    <li id={part} class={problem !== undefined ? 'fails' : isKnown ? 'works' : 'unknown'}>
      <h2>{name}</h2>
      <p>
        <strong>{problem?.title ?? (isKnown ? 'No known problem' : 'Not known')}.</strong> {problem?.meaning}{' '}
        {children}
      </p>
      {days.length > 0 && (
        <ol class="bars">
          {days.map(({ key, kind, text }) => (
            <li key={key} class={kind} title={text}>
              <span class="visually-hidden">{text}</span>
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}

const classify = (coverageBps: number) =>
  coverageBps === 10_000 ? 'full' : coverageBps > 0 ? 'part' : 'none';

function Wheel() {
  const { read } = usePage();
  const statistics = read('statistics', statisticsPath(range));
  const status = read('status', statusPath);
  const observedAt = status?.measurement?.observedAt;
  const days =
    statistics === null
      ? []
      : classifyDays(statistics.activity.days, findKnown(statistics, read).firstObservedMs).map(
          ({ date, state, coverage }): DayMark => ({
            key: date,
            kind: state === 'before' ? 'unknown' : classify(coverage.coverageBps),
            text: `${formatDay(date)}: ${state === 'before' ? coverages.before : `${formatPercent(coverage.coverageBps)} of its rounds observed`}`,
          }),
        );
  return (
    <PartRow part="wheel" name="Wheel" isKnown={observedAt !== undefined} days={days}>
      {observedAt === undefined ? (
        explain(status === null ? unread : 'no_measurement')
      ) : (
        <>
          Last reading <Age of={observedAt} />.
        </>
      )}
    </PartRow>
  );
}

function Oracle() {
  const status = usePage().read('status', statusPath);
  const closure = status?.oracle.latestClosure ?? null;
  return (
    <PartRow part="oracle" name="Oracle" isKnown={closure !== null}>
      {closure === null ? (
        explain(status === null ? unread : 'no_closure')
      ) : (
        <>
          It closed round <To {...toRound(closure.lastRound)} /> <Age of={closure.acceptedAt} />.
        </>
      )}
    </PartRow>
  );
}

function Settlement() {
  const { read, chain } = usePage();
  const status = read('status', statusPath);
  const queue = status?.settlementQueue;
  const body = read('settlements', settlementsPath(range));
  const history = findAvailable(body);
  const nowMs = Date.parse(history?.generatedAt ?? '');
  const core = findAvailable(read('core', corePath));
  const genesisMs = findGenesisMs(core) ?? 0;
  const days = (history?.buckets ?? []).map(({ startAt, settlementCount }): DayMark => {
    const startMs = Date.parse(startAt);
    const isBefore = startMs + dayMs <= genesisMs;
    return {
      key: startAt,
      kind: isBefore || startMs > nowMs ? 'unknown' : settlementCount === '0' ? 'none' : 'full',
      text: `${formatDay(startAt)}: ${isBefore ? 'before the first round' : count(settlementCount, 'batch', 'batches')}`,
    };
  });
  return (
    <PartRow part="settlement" name="Settlement" isKnown={queue?.status === 'available'} days={days}>
      {status === null
        ? explain(unread)
        : queue?.status === 'unavailable' && `${explainProjection(queue.reason, status, chain)} `}
      {core !== null && (
        <>
          Rounds through <To {...toRound(core.core.settledThroughRound)} /> are settled.
        </>
      )}
      <NextBatch />
    </PartRow>
  );
}

function Chain() {
  const core = usePage().read('core', corePath);
  return (
    <PartRow part="chain" name="Chain" isKnown={core?.status === 'available'}>
      {core?.status === 'available' ? (
        <>
          It is read through block {formatInteger(core.chain.indexedThroughBlock)}, and shown through block{' '}
          {formatInteger(core.chain.safeThroughBlock)}, which has 12 confirmations.
        </>
      ) : (
        explain(core === null ? unread : core.reason)
      )}
    </PartRow>
  );
}
