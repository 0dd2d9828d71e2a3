import { Figure } from '../../components/Figure.tsx';
import { useNowMs, usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { formatInteger } from '../../format/numbers.ts';
import { describeWork } from '../../format/quantities.ts';
import { formatDuration } from '../../format/times.ts';
import { explain } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import { corePath, statusPath } from '../../resources.ts';
import { roundMs } from '../../rounds.ts';

/** The open round: its number, its remaining time, and its work so far. */
export function OpenRound({ status, core }: { status: Bodies['status']; core: Bodies['core'] | null }) {
  const { renderedAtMs } = usePage();
  const nowMs = useNowMs() ?? renderedAtMs;
  const startMs = Math.floor(nowMs / roundMs) * roundMs;
  const elapsed = (nowMs - startMs) / roundMs;
  const genesis = core?.status === 'available' ? Number(core.configuration.genesisTimestamp) * 1000 : null;
  const round = genesis === null || nowMs < genesis ? null : Math.floor((nowMs - genesis) / roundMs) + 1;
  const { builder } = status;
  const work = builder.status === 'available' ? builder.queued.openRoundWorkUnits : null;
  const circumference = 2 * Math.PI * 42;
  return (
    <section class="open-round" aria-labelledby="open-round">
      <h2 id="open-round">Open round</h2>
      <div class="round-clock">
        <svg viewBox="0 0 100 100" aria-hidden="true">
          <circle cx="50" cy="50" r="42" class="track" />
          <circle
            cx="50"
            cy="50"
            r="42"
            class="elapsed"
            transform="rotate(-90 50 50)"
            stroke-dasharray={`${(elapsed * circumference).toFixed(1)} ${circumference.toFixed(1)}`}
          />
        </svg>
        <p>
          <span class="remaining">{formatDuration((startMs + roundMs - nowMs) / 1000)}</span>
          <span class="quiet small">
            until <Time at={new Date(startMs + roundMs).toISOString()} />
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
        />
        <Figure
          size="small"
          label="Work so far"
          {...describeWork(work)}
          route={statusPath}
          field="builder.queued.openRoundWorkUnits"
          meaning="Work of the rounds that are measured and not closed by the oracle yet."
        >
          {builder.status === 'unavailable' && explain(builder.reason)}
        </Figure>
      </div>
    </section>
  );
}
