import { Line } from '../../charts/Line.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { Figure } from '../../components/Figure.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Available } from '../../components/ResourceNotice.tsx';
import { formatExact, formatInteger, formatTick } from '../../format/numbers.ts';
import { formatDayAndMinute, nameZone } from '../../format/times.ts';
import type { Bodies } from '../../page.ts';
import { corePath } from '../../resources.ts';

/** Work per block after each of the newest batches, from the core's events. */
export function Difficulty() {
  return (
    <section aria-labelledby="difficulty">
      <h2 id="difficulty">Difficulty</h2>
      <Available what="Difficulty" resource={usePage().read('core', corePath)}>
        {(core) => <History core={core} />}
      </Available>
    </section>
  );
}

function History({ core }: { core: Extract<Bodies['core'], { status: 'available' }> }) {
  const { zone } = usePage();
  const { workPerThousandBlocks } = core.core;
  const rows = core.events
    .flatMap((event) => {
      const find = (name: string) => event.arguments.find((argument) => argument.name === name)?.value;
      const value = find('workPerThousandBlocks');
      const round = find('settledThroughRound');
      if (event.eventName !== 'BatchSettled' || value === undefined || round === undefined) return [];
      const at = new Date(Number(event.blockTimestamp) * 1000).toISOString();
      return [{ id: event.id, at, value, round }];
    })
    .reverse();
  return (
    <>
      <Figure
        label="Work for a block, now"
        value={formatExact(workPerThousandBlocks, 3)}
        unit="units"
        route={corePath}
        field="core.workPerThousandBlocks"
        exact={`${formatInteger(workPerThousandBlocks)} work units for 1,000 blocks`}
        meaning="The contract adjusts it after each batch, so that a round with work completes a steady number of blocks."
        safeBlock={formatInteger(core.chain.safeThroughBlock)}
        contract={core.identities.core}
      />
      {rows.length > 1 && (
        <>
          <Line
            label={`Work for a block after each of the newest ${rows.length} batches`}
            points={rows.map(({ id, at, value, round }) => ({
              key: id,
              value: Number(value) / 1000,
              isComplete: true,
              tick: formatDayAndMinute(at, zone),
              text: `${formatDayAndMinute(at, zone)} ${nameZone(at, zone)}, round ${formatInteger(round)}: ${formatExact(value, 3)} work units`,
            }))}
            formatValue={formatTick}
            tone="settled"
            isFromZero={false}
          />
          <DataTable
            caption="Difficulty after the newest batches"
            fileName="difficulty.csv"
            rows={rows}
            columns={[
              { name: 'settled at', value: ({ at }) => at, isText: true },
              { name: 'through round', value: ({ round }) => round },
              { name: 'work for 1,000 blocks (units)', value: ({ value }) => value },
            ]}
          />
        </>
      )}
    </>
  );
}
