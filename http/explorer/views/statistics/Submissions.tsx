import { Available } from '../../components/Banner.tsx';
import { Time } from '../../components/Time.tsx';
import { formatInteger, formatPercent } from '../../format/numbers.ts';
import { formatDuration } from '../../format/times.ts';
import type { Bodies } from '../../page.ts';

/** Outcomes of the batches submitted in the range. */
export function Submissions({ oracle: body }: { oracle: Bodies['statistics']['oracle'] }) {
  return (
    <section aria-labelledby="submissions">
      <h2 id="submissions">Batches submitted to the chain</h2>
      <Available what="Batches" body={body}>
        {(oracle) => (
          <>
            <p>
              <strong>{formatInteger(oracle.submissionCount)}</strong> submitted:{' '}
              {formatInteger(oracle.confirmedCount)} confirmed ({formatPercent(oracle.confirmedRateBps)}),{' '}
              {formatInteger(oracle.revertedCount)} reverted, {formatInteger(oracle.supersededCount)} replaced
              by another one.
              {oracle.confirmationLatencyMedianMs !== null &&
                oracle.confirmationLatencyMedianMs >= 1_000 &&
                ` Half of them were confirmed within ${formatDuration(oracle.confirmationLatencyMedianMs / 1000)}.`}
            </p>
            {!oracle.completeForWindow && (
              <p class="small quiet">
                Submissions are known since <Time at={oracle.coverageStartedAt} as="minute" />, which is after
                the range begins.
              </p>
            )}
          </>
        )}
      </Available>
    </section>
  );
}
