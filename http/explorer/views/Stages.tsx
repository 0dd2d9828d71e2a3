import type { ComponentChildren } from 'preact';
import { Figure } from '../components/Figure.tsx';
import { Ago } from '../components/Time.tsx';
import { TransactionLink } from '../components/TransactionLink.tsx';
import { formatExact, formatInteger, formatShort } from '../format/numbers.ts';
import { explain, provenances } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { corePath, issuancePath, statisticsPath, statusPath } from '../resources.ts';

interface StagesProps {
  readonly status: Bodies['status'];
  readonly core: Bodies['core'] | null;
  readonly issuance: Bodies['issuance'] | null;
  readonly statistics: Bodies['statistics'] | null;
}

/** The four stages of the contract, side by side and never added up. */
export function Stages({ status, core, issuance, statistics }: StagesProps) {
  return (
    <section aria-labelledby="stages">
      <h2 id="stages">From a turn to a token</h2>
      <p class="lead">Four different things, in this order. None of them is the sum of the others.</p>
      <ol class="stages">
        <Measured status={status} statistics={statistics} />
        <Optimistic status={status} />
        <Settled status={status} core={core} />
        <Issued issuance={issuance} />
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

function Measured({ status, statistics }: Pick<StagesProps, 'status' | 'statistics'>) {
  const { measurement } = status;
  const { acceptedWorkUnits = null, coverageBps = 0 } = statistics?.lifetime ?? {};
  // The sum of no rounds says nothing of the wheel.
  const total = acceptedWorkUnits === '0' && coverageBps === 0 ? null : acceptedWorkUnits;
  return (
    <Stage name="measured" meaning="what the device counted">
      <Figure
        label="Work in observed rounds"
        value={total === null ? null : formatInteger(total)}
        unit="units"
        source={{
          route: statisticsPath('7d'),
          field: 'lifetime.acceptedWorkUnits',
          exact: total === null ? null : `${total} work units`,
          meaning:
            'All work in rounds that were observed without a gap, since the first accepted reading. Work in a gap is unknown and not in it.',
          observedAt: measurement?.observedAt ?? null,
        }}
      />
      <Figure
        size="small"
        label="Counter now"
        value={measurement === null ? null : formatInteger(measurement.cumulativeWorkUnits)}
        source={{
          route: statusPath,
          field: 'measurement.cumulativeWorkUnits',
          exact: measurement === null ? null : `${measurement.cumulativeWorkUnits} work units`,
          meaning: 'The counter of the device in its present epoch. It is not settled work.',
          provenance: measurement === null ? null : (provenances[measurement.provenance] ?? null),
          observedAt: measurement?.observedAt ?? null,
        }}
      />
    </Stage>
  );
}

function Optimistic({ status: { builder, measurement } }: Pick<StagesProps, 'status'>) {
  const isKnown = builder.status === 'available';
  return (
    <Stage name="optimistic" meaning="what would settle next">
      <Figure
        label="Would complete"
        value={isKnown ? formatInteger(builder.projected.completedBlockCount) : null}
        unit={isKnown && builder.projected.completedBlockCount === '1' ? 'block' : 'blocks'}
        source={{
          route: statusPath,
          field: 'builder.projected.completedBlockCount',
          exact: isKnown ? `${builder.projected.completedBlockCount} work blocks` : null,
          meaning:
            'Blocks that the rounds behind the settled ones would complete, by the arithmetic of the contract.',
          observedAt: measurement?.observedAt ?? null,
        }}
      />
      {isKnown ? (
        <Figure
          size="small"
          label="Would reach block"
          value={formatShort(builder.projected.cumulativeBlockUnits, 9, 3)}
          source={{
            route: statusPath,
            field: 'builder.projected.cumulativeBlockUnits',
            exact: `${formatExact(builder.projected.cumulativeBlockUnits, 9)} blocks`,
            meaning: 'Height with the progress into the next block.',
          }}
        />
      ) : (
        <p class="reason">{explain(builder.reason)}</p>
      )}
    </Stage>
  );
}

function Settled({ status, core }: Pick<StagesProps, 'status' | 'core'>) {
  const isKnown = core?.status === 'available';
  const anchor = status.builder.status === 'available' ? status.builder.anchor : null;
  const common = isKnown
    ? {
        route: corePath,
        safeBlock: formatInteger(core.chain.safeThroughBlock),
        contract: core.identities.core,
      }
    : { route: corePath };
  return (
    <Stage name="settled" meaning="what the chain recorded">
      <Figure
        label="Block height"
        value={isKnown ? formatShort(core.core.cumulativeBlockUnits, 9, 3) : null}
        source={{
          ...common,
          field: 'core.cumulativeBlockUnits',
          exact: isKnown ? `${formatExact(core.core.cumulativeBlockUnits, 9)} work blocks` : null,
          meaning:
            'Work blocks of the wheel, not blocks of the chain: complete ones, and the part of the next one.',
        }}
      />
      <Figure
        size="small"
        label="Settled work"
        value={isKnown ? formatInteger(core.core.cumulativeWork) : null}
        unit="units"
        source={{
          ...common,
          field: 'core.cumulativeWork',
          exact: isKnown ? `${core.core.cumulativeWork} work units` : null,
          meaning: 'Work of all rounds that a confirmed batch has settled.',
        }}
      />
      {core?.status === 'unavailable' && <p class="reason">{explain(core.reason)}</p>}
      {anchor?.confirmedAt && (
        <p class="small quiet">
          through round {formatInteger(anchor.settledThroughRound)} · <Ago at={anchor.confirmedAt} />
          {anchor.transactionHash !== null && (
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

function Issued({ issuance }: Pick<StagesProps, 'issuance'>) {
  const isKnown = issuance?.status === 'available';
  const common = isKnown
    ? {
        route: issuancePath,
        safeBlock: formatInteger(issuance.chain.safeThroughBlock),
        contract: issuance.identities.mining,
      }
    : { route: issuancePath };
  return (
    <Stage name="issued" meaning="what was minted for it">
      <Figure
        label="Minted"
        value={isKnown ? formatShort(issuance.issuance.mintedBaseUnits, issuance.asset.decimals, 2) : null}
        unit={isKnown ? issuance.asset.symbol : ''}
        source={{
          ...common,
          field: 'issuance.mintedBaseUnits',
          exact: isKnown
            ? `${formatExact(issuance.issuance.mintedBaseUnits, issuance.asset.decimals)} ${issuance.asset.symbol}`
            : null,
          meaning:
            'Reward tokens that checkpoints have minted, round by round. Owners claim them afterwards.',
        }}
      />
      <Figure
        size="small"
        label="Paid to owners"
        value={
          isKnown && issuance.issuance.paidBaseUnits !== undefined
            ? formatShort(issuance.issuance.paidBaseUnits, issuance.asset.decimals, 2)
            : null
        }
        unit={isKnown ? issuance.asset.symbol : ''}
        source={{
          ...common,
          field: 'issuance.paidBaseUnits',
          exact:
            isKnown && issuance.issuance.paidBaseUnits !== undefined
              ? `${formatExact(issuance.issuance.paidBaseUnits, issuance.asset.decimals)} ${issuance.asset.symbol}`
              : null,
          meaning: 'What owners have claimed of it.',
        }}
      />
      {isKnown && (
        <p class="small quiet">through round {formatInteger(issuance.issuance.processedThroughRound)}</p>
      )}
      {issuance?.status === 'unavailable' && <p class="reason">{explain(issuance.reason)}</p>}
    </Stage>
  );
}
