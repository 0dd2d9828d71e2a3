import type { ComponentChildren } from 'preact';
import { Figure } from '../../components/Figure.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { describeWork } from '../../format/quantities.ts';
import { toRound } from '../../format/sentence.ts';
import { formatDuration } from '../../format/times.ts';
import { explain, explainProjection } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import { corePath, statusPath } from '../../resources.ts';
import { findGenesisMs, roundMs } from '../../rounds.ts';

/** The open round with its remaining time and its work, or why no round is open: there is no contract, or its genesis is still to come. */
export function OpenRound({ status }: { status: Bodies['status'] }) {
  const { read, nowMs, expireAt, chain } = usePage();
  const core = read('core', corePath);
  const genesisMs = findGenesisMs(core);
  // Every genesis is at a whole half hour, so rounds begin at the same times.
  const startMs = Math.floor(nowMs / roundMs) * roundMs;
  const endAt = new Date(startMs + roundMs).toISOString();
  expireAt(startMs + roundMs);
  if (core?.status === 'unavailable' && core.reason === 'indexer_disabled')
    return <Card>No round is open. {explain(core.reason)}</Card>;
  if (genesisMs !== null && nowMs < genesisMs)
    return (
      <Card>
        No round is open yet. The first one begins <Time at={new Date(genesisMs).toISOString()} as="minute" />
        .
      </Card>
    );
  const { builder } = status;
  return (
    <Card
      round={
        genesisMs === null ? (
          <span class="unknown">unknown</span>
        ) : (
          <To {...toRound(String((startMs - genesisMs) / roundMs + 1))} />
        )
      }
    >
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
            data-since={new Date(startMs).toISOString()}
            data-until={endAt}
          />
        </svg>
        <div>
          <span class="remaining" data-remaining={endAt}>
            {formatDuration((startMs + roundMs - nowMs) / 1000)}
          </span>
          <span class="quiet small">
            until <Time at={endAt} />
          </span>
        </div>
      </div>
      <Figure
        size="small"
        label="Work so far"
        {...describeWork(builder.status === 'available' ? builder.queued.openRoundWorkUnits : null)}
        route={statusPath}
        field="builder.queued.openRoundWorkUnits"
        meaning="Work of the measured rounds that the oracle has not closed yet."
      >
        {builder.status === 'unavailable' && explainProjection(builder.reason, status, chain)}
      </Figure>
    </Card>
  );
}

function Card({ round, children }: { round?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="open-round" aria-labelledby="open-round">
      <h2 id="open-round">Open round {round}</h2>
      <div>{children}</div>
    </section>
  );
}
