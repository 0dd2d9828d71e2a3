import { Headings } from '../components/Headings.tsx';
import { Scroll } from '../components/Scroll.tsx';
import { Time } from '../components/Time.tsx';
import { TransactionLink } from '../components/TransactionLink.tsx';
import { formatInteger, formatShort } from '../format/numbers.ts';
import type { History } from './settlementHistory.ts';

type Mining = Extract<History['mining'], { status: 'available' }>;

/** The newest batches of the range that completed a block. */
export function Batches({ history }: { history: History }) {
  const { recentSettlements, mining } = history;
  const asset = mining.status === 'available' ? mining.economy : null;
  return (
    <section aria-labelledby="batches">
      <h2 id="batches">Newest batches that completed blocks</h2>
      {recentSettlements.length === 0 ? (
        <p class="empty">No batch of this range has completed a block.</p>
      ) : (
        <Scroll label="Table: newest batches">
          <table>
            <Headings
              columns={[
                { text: 'Time' },
                { text: 'Rounds', isNumber: true },
                { text: 'Work', isNumber: true },
                { text: 'Blocks', isNumber: true },
                { text: 'Minted', isNumber: true },
                { text: 'Transaction' },
              ]}
            />
            <tbody>
              {recentSettlements.map((one) => (
                <tr key={`${one.transactionHash}-${one.logIndex}`}>
                  <td>
                    <Time at={one.blockTimestamp} as="minute" />
                  </td>
                  <td class="number">
                    {formatInteger(String(BigInt(one.previousSettledThroughRound) + 1n))}–
                    {formatInteger(one.settledThroughRound)}
                  </td>
                  <td class="number">{formatInteger(one.workAdded)}</td>
                  <td class="number">
                    {one.completedBlockCount === '1'
                      ? formatInteger(one.lastCompletedBlock)
                      : `${formatInteger(one.firstCompletedBlock)}–${formatInteger(one.lastCompletedBlock)}`}
                  </td>
                  <td class="number">
                    {one.sqkMintedBaseUnits === undefined || asset === null
                      ? 'not yet'
                      : `${formatShort(one.sqkMintedBaseUnits, asset.decimals, 2)} ${asset.symbol}`}
                  </td>
                  <td>
                    <TransactionLink hash={one.transactionHash} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}

/** The newest checkpoints of the range. */
export function Checkpoints({ mining }: { mining: Mining }) {
  const { recentCheckpoints, economy } = mining;
  return (
    <section aria-labelledby="checkpoints">
      <h2 id="checkpoints">Newest mints</h2>
      {recentCheckpoints.length === 0 ? (
        <p class="empty">Nothing was minted in this range.</p>
      ) : (
        <Scroll label="Table: newest mints">
          <table>
            <Headings
              columns={[
                { text: 'Time' },
                { text: 'Rounds', isNumber: true },
                { text: 'Blocks', isNumber: true },
                { text: 'Weight', isNumber: true },
                { text: economy.symbol, isNumber: true },
                { text: 'Transaction' },
              ]}
            />
            <tbody>
              {recentCheckpoints.map((one) => (
                <tr key={`${one.transactionHash}-${one.logIndex}`}>
                  <td>
                    <Time at={one.blockTimestamp} as="minute" />
                  </td>
                  <td class="number">
                    {formatInteger(String(BigInt(one.afterRound) + 1n))}–{formatInteger(one.throughRound)}
                  </td>
                  <td class="number">{formatInteger(one.completedBlockCount)}</td>
                  <td class="number">{formatInteger(one.eligibleWeight)}</td>
                  <td class="number">{formatShort(one.amountBaseUnits, economy.decimals, 2)}</td>
                  <td>
                    <TransactionLink hash={one.transactionHash} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}
