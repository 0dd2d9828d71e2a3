import { Figure } from '../../components/Figure.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { formatInteger } from '../../format/numbers.ts';
import { describeWork } from '../../format/quantities.ts';
import { formatDuration } from '../../format/times.ts';
import { explain, explainProjection } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import { corePath, statusPath } from '../../resources.ts';
import { roundMs } from '../../rounds.ts';

interface OpenRoundProps {
  readonly status: Bodies['status'];
  readonly core: Bodies['core'] | null;
}

/** The open round, or why no round is open: there is no contract, or its genesis is still to come. */
export function OpenRound({ status, core }: OpenRoundProps) {
  const { renderedAtMs: nowMs, expireAt } = usePage();
  const genesisMs = core?.status === 'available' ? Number(core.configuration.genesisTimestamp) * 1000 : null;
  expireAt((Math.floor(nowMs / roundMs) + 1) * roundMs);
  const isWithoutContracts = core?.status === 'unavailable' && core.reason === 'indexer_disabled';
  return (
    <section class="open-round" aria-labelledby="open-round">
      <h2 id="open-round">Open round</h2>
      {isWithoutContracts ? (
        <p>No round is open. {explain(core.reason)}</p>
      ) : genesisMs !== null && nowMs < genesisMs ? (
        <p>
          No round is open yet. The first one begins{' '}
          <Time at={new Date(genesisMs).toISOString()} as="minute" />.
        </p>
      ) : (
        <Round status={status} genesisMs={genesisMs} nowMs={nowMs} />
      )}
    </section>
  );
}

/** Its number, its remaining time, and its work so far. */
function Round({
  status,
  genesisMs,
  nowMs,
}: {
  status: Bodies['status'];
  /** Null if unknown. Every genesis is at a whole half hour, so rounds begin at the same times. */
  genesisMs: number | null;
  nowMs: number;
}) {
  const { builder } = status;
  const startMs = Math.floor(nowMs / roundMs) * roundMs;
  const startAt = new Date(startMs).toISOString();
  const endAt = new Date(startMs + roundMs).toISOString();
  const round = genesisMs === null ? null : Math.floor((nowMs - genesisMs) / roundMs) + 1;
  const work = builder.status === 'available' ? builder.queued.openRoundWorkUnits : null;
  return (
    <>
      <div class="round-clock">
        <svg viewBox="0 0 100 100" aria-hidden="true">
          <circle cx="50" cy="50" r="42" class="track" />
          <circle
            cx="50"
            cy="50"
            r="42"
            class="elapsed"
            transform="rotate(-90 50 50)"
            pathLength="1"
            stroke-dasharray={`${((nowMs - startMs) / roundMs).toFixed(4)} 1`}
            data-since={startAt}
            data-until={endAt}
          />
        </svg>
        <p>
          <span class="remaining" data-remaining={endAt}>
            {formatDuration((startMs + roundMs - nowMs) / 1000)}
          </span>
          <span class="quiet small">
            until <Time at={endAt} />
          </span>
        </p>
      </div>
      <div class="figures">
        <Figure
          size="small"
          label="Round"
          value={round === null ? null : formatInteger(round)}
          route={corePath}
          field="core.configuration.genesisTimestamp"
          exact={round === null ? null : String(round)}
          meaning="Rounds of ten minutes are counted from the genesis of the contract."
        >
          {round !== null && <a href={`/rounds/${round}`}>Its page</a>}
        </Figure>
        <Figure
          size="small"
          label="Work so far"
          {...describeWork(work)}
          route={statusPath}
          field="builder.queued.openRoundWorkUnits"
          meaning="Work of the rounds that are measured and not closed by the oracle yet."
        >
          {builder.status === 'unavailable' && explainProjection(builder.reason, status, usePage().chain)}
        </Figure>
      </div>
    </>
  );
}
