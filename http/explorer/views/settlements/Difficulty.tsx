import { Line } from '../../charts/Line.tsx';
import { Available } from '../../components/Banner.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { Figure } from '../../components/Figure.tsx';
import { usePage } from '../../components/pageContext.ts';
import { formatExact, formatInteger } from '../../format/numbers.ts';
import { time } from '../../format/times.ts';
import type { Bodies } from '../../page.ts';
import { corePath } from '../../resources.ts';
import { difficultyTable } from '../../tables/tables.ts';

/** Work per block after each of the newest batches, from the core's events. */
export function Difficulty() {
  return (
    <section aria-labelledby="difficulty">
      <h2 id="difficulty">Difficulty</h2>
      <Available what="Difficulty" body={usePage().read('core', corePath)}>
        {(core) => <History core={core} />}
      </Available>
    </section>
  );
}

function History({ core }: { core: Extract<Bodies['core'], { status: 'available' }> }) {
  const { workPerThousandBlocks } = core.core;
  const table = difficultyTable(core);
  const { rows } = table;
  return (
    <>
      <Figure
        label="Work for a work block, now"
        value={formatExact(workPerThousandBlocks, 3)}
        unit="units"
        route={corePath}
        field="core.workPerThousandBlocks"
        exact={`${formatInteger(workPerThousandBlocks)} work units for 1,000 work blocks`}
        meaning="The contract adjusts it after each batch, so that a round with work completes a steady number of work blocks."
        safeBlock={core.chain.safeThroughBlock}
        contract={core.identities.core}
      />
      {rows.length > 1 && (
        <>
          <Line
            id="difficulty"
            label={`Work for a work block after each of the newest ${rows.length} batches`}
            points={rows.map(({ id, at, value, round }) => ({
              key: id,
              value: Number(value) / 1000,
              isComplete: true,
              tick: time('dayAndHour', at),
              text: `${time('minute', at)}, round ${formatInteger(round)}: ${formatExact(value, 3)} work units`,
            }))}
            tone="settled"
            isFromZero={false}
          />
          <DataTable id="difficulty" table={table} file="/tables/difficulty.csv" />
        </>
      )}
    </>
  );
}
