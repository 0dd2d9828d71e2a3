import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { defer, lastValueFrom, ReplaySubject, repeat, retry, takeUntil, tap, timer } from 'rxjs';
import { whenFinished } from '../support/processes/lifetime.ts';
import { deriveUuid, readingMessage, toPublication } from '../support/readings/readingMessages.ts';

const installations = ['wheel.one', 'wheel:two', 'wheel-three'];

const intervalMs = 30_000;
const readingsOfDay = 86_400_000 / intervalMs;
/** The wheel turns so far between two readings that it often reaches distances of the feed. */
const distanceOfReadingMm = 20_000;
/** Delay between two publications. */
const publishMs = 10;
const retryMs = 50;
const acknowledgementMs = 1_000;

/** Publishes readings until its end, each until it is acknowledged. Some are bad, and some are sent twice. */
interface CampaignGateway {
  readonly acknowledged: number;
  end(): Promise<void>;
}

interface Publication {
  readonly subject: string;
  readonly body: string;
  readonly msgID: string;
}

export async function startGateway(natsUrl: string, random: () => number): Promise<CampaignGateway> {
  const connection = await connect({ servers: natsUrl, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  const js = jetstream(connection);
  const publications = drawPublications(random);
  const ending$ = new ReplaySubject<void>(1);
  const waitUnlessEnding = (ms: number) => timer(ms).pipe(takeUntil(ending$));
  let acknowledged = 0;

  const publishNext = defer(() => {
    const { subject, body, msgID } = publications.next().value;
    return defer(() => js.publish(subject, body, { msgID, timeout: acknowledgementMs })).pipe(
      retry({ delay: () => waitUnlessEnding(retryMs) }),
      tap(() => acknowledged++),
    );
  });
  const publishing = lastValueFrom(publishNext.pipe(repeat({ delay: () => waitUnlessEnding(publishMs) })), {
    defaultValue: null,
  });
  const end = async () => {
    ending$.next();
    await publishing;
    await connection.close();
  };
  whenFinished(end);
  return {
    get acknowledged() {
      return acknowledged;
    },
    end,
  };
}

function* drawPublications(random: () => number): Generator<Publication, never> {
  for (let number = 0; ; number++) {
    const installationId = installations[number % installations.length] as string;
    const index = Math.floor(number / installations.length) + 1;
    const turned = { distanceMm: (index % readingsOfDay) * distanceOfReadingMm };
    const { subject, body } = toPublication(readingMessage(installationId, index, turned, intervalMs));
    const msgID = deriveUuid(`${installationId} ${index}`);
    if (random() < 0.03) yield { subject, body: body.slice(0, 40), msgID: `${msgID} bad` };
    yield { subject, body, msgID };
    if (random() < 0.03) yield { subject, body, msgID: `${msgID} again` };
  }
}
