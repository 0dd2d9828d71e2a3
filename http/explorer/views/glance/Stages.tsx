import type { ComponentChildren } from 'preact';
import { findAvailable } from '../../components/Banner.tsx';
import { Figure } from '../../components/Figure.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { TransactionLink } from '../../components/TransactionLink.tsx';
import { formatExact, formatInteger, formatShort } from '../../format/numbers.ts';
import { describeAmount, describeDistance, describeWork } from '../../format/quantities.ts';
import { toRound } from '../../format/sentence.ts';
import { explain, explainProjection, provenances } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import { corePath, issuancePath, statisticsPath, statusPath } from '../../resources.ts';

interface StagesProps {
  readonly status: Bodies['status'];
}

/** The four stages of the contract, side by side and never added up. */
export function Stages({ status }: StagesProps) {
  return (
    <section aria-labelledby="stages">
      <h2 id="stages">From a turn to a token</h2>
      <p class="lead">Four separate stages, in this order. They do not add up.</p>
      <ol class="stages">
        <Measured status={status} />
        <Optimistic status={status} />
        <Settled status={status} />
        <Issued />
      </ol>
    </section>
  );
}

function Stage({ name, meaning, children }: { name: string; meaning: string; children: ComponentChildren }) {
  return (
    <li class={`stage ${name}`}>
      <h3>{name}</h3>
      <p class="meaning">{meaning}</p>
      {children}
    </li>
  );
}

function Measured({ status: { measurement } }: StagesProps) {
  const statistics = usePage().read('statistics', statisticsPath('7d'));
  const {
    acceptedWorkUnits = null,
    coverageBps = 0,
    observedDistanceMm = null,
    firstObservedAt = null,
  } = statistics?.lifetime ?? {};
  // Without an observed round, the sum 0 is not a measurement.
  const total = acceptedWorkUnits === '0' && coverageBps === 0 ? null : acceptedWorkUnits;
  return (
    <Stage name="measured" meaning="what the device counted">
      <Figure
        label="Work in observed rounds"
        {...describeWork(total)}
        route={statisticsPath('7d')}
        field="lifetime.acceptedWorkUnits"
        meaning="Work of all fully observed rounds since the first accepted reading. Work in gaps is unknown and not included."
        observedAt={measurement?.observedAt ?? null}
      />
      <Figure
        size="small"
        label="Distance in all"
        {...describeDistance(firstObservedAt === null ? null : observedDistanceMm)}
        route={statisticsPath('7d')}
        field="lifetime.observedDistanceMm"
        meaning="Sum of the daily distances since the first accepted reading. Distance while the device was offline is not included."
        observedAt={measurement?.observedAt ?? null}
      />
      <Figure
        size="small"
        label="Counter now"
        {...describeWork(measurement?.cumulativeWorkUnits ?? null)}
        route={statusPath}
        field="measurement.cumulativeWorkUnits"
        meaning="The device’s counter in its present epoch. This is not settled work."
        provenance={measurement === null ? null : (provenances[measurement.provenance] ?? null)}
        observedAt={measurement?.observedAt ?? null}
      />
    </Stage>
  );
}

function Optimistic({ status }: StagesProps) {
  const { builder, measurement } = status;
  const { chain } = usePage();
  const isKnown = builder.status === 'available';
  return (
    <Stage name="optimistic" meaning="what would settle next">
      <Figure
        label="Would complete"
        value={isKnown ? formatInteger(builder.projected.completedBlockCount) : null}
        unit={isKnown && builder.projected.completedBlockCount === '1' ? 'work block' : 'work blocks'}
        route={statusPath}
        field="builder.projected.completedBlockCount"
        exact={isKnown ? `${builder.projected.completedBlockCount} work blocks` : null}
        meaning="Work blocks that the rounds waiting for settlement would complete, by the contract’s arithmetic."
        observedAt={measurement?.observedAt ?? null}
      />
      {isKnown ? (
        <Figure
          size="small"
          label="Would reach work block"
          value={formatShort(builder.projected.cumulativeBlockUnits, 9, 3)}
          route={statusPath}
          field="builder.projected.cumulativeBlockUnits"
          exact={`${formatExact(builder.projected.cumulativeBlockUnits, 9)} work blocks`}
          meaning="Height with the progress into the next work block."
        />
      ) : (
        <p class="small">{explainProjection(builder.reason, status, chain)}</p>
      )}
    </Stage>
  );
}

function Settled({ status }: StagesProps) {
  const body = usePage().read('core', corePath);
  const shown = findAvailable(body);
  const core = shown?.core ?? null;
  const anchor = status.builder.status === 'available' ? status.builder.anchor : null;
  const common = {
    route: corePath,
    safeBlock: shown?.chain.safeThroughBlock ?? null,
    contract: shown?.identities.core ?? null,
  };
  return (
    <Stage name="settled" meaning="what the chain recorded">
      <Figure
        label="Work block height"
        value={core && formatShort(core.cumulativeBlockUnits, 9, 3)}
        {...common}
        field="core.cumulativeBlockUnits"
        exact={core && `${formatExact(core.cumulativeBlockUnits, 9)} work blocks`}
        meaning="Blocks of the wheel’s work, not Ethereum blocks: complete ones, and the part of the next one."
      />
      <Figure
        size="small"
        label="Settled work"
        {...describeWork(core?.cumulativeWork ?? null)}
        {...common}
        field="core.cumulativeWork"
        meaning="Work of all rounds that a confirmed batch has settled."
      />
      {body?.status === 'unavailable' && <p class="small">{explain(body.reason)}</p>}
      {core !== null && (
        <p class="small quiet">
          through round <To {...toRound(core.settledThroughRound)} />
          {anchor?.confirmedAt && (
            <>
              {' · '}
              <Time at={anchor.confirmedAt} as="ago" />
            </>
          )}
          {anchor?.transactionHash && (
            <>
              {' · '}
              <TransactionLink hash={anchor.transactionHash} />
            </>
          )}
        </p>
      )}
    </Stage>
  );
}

function Issued() {
  const body = usePage().read('issuance', issuancePath);
  const shown = findAvailable(body);
  const common = {
    route: issuancePath,
    safeBlock: shown?.chain.safeThroughBlock ?? null,
    contract: shown?.identities.mining ?? null,
  };
  const asset = shown?.asset ?? null;
  return (
    <Stage name="issued" meaning="what was minted for it">
      <Figure
        label="Minted"
        {...describeAmount(shown?.issuance.mintedBaseUnits, asset, 2)}
        {...common}
        field="issuance.mintedBaseUnits"
        meaning="Reward tokens that checkpoints have minted, round by round. Owners claim them afterwards."
      />
      <Figure
        size="small"
        label="Paid to owners"
        {...describeAmount(shown?.issuance.paidBaseUnits, asset, 2)}
        {...common}
        field="issuance.paidBaseUnits"
        meaning="Part that owners have claimed."
      />
      {shown !== null && (
        <p class="small quiet">
          through round <To {...toRound(shown.issuance.processedThroughRound)} />
        </p>
      )}
      {body?.status === 'unavailable' && <p class="small">{explain(body.reason)}</p>}
    </Stage>
  );
}
