import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { whenFinished } from '../support/processes/lifetime.ts';
import { deriveUuid, readingMessage, toPublication } from '../support/readings/readingMessages.ts';

const installations = ['wheel.one', 'wheel:two', 'wheel-three'];

const intervalMs = 30_000;
const readingsOfDay = 86_400_000 / intervalMs;
/** So far the wheel turns between two readings that it reaches distances of the feed all the time. */
const distanceOfReadingMm = 20_000;

/** Publishes readings until it is ended, each until it is acknowledged; one of some is bad, and one of some is sent twice. */
export interface CampaignGateway {
  readonly acknowledged: number;
  end(): Promise<void>;
}

export async function startGateway(natsUrl: string, random: () => number): Promise<CampaignGateway> {
  const connection = await connect({ servers: natsUrl, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  const js = jetstream(connection);
  const state = { acknowledged: 0, isEnding: false };

  async function publish(subject: string, body: string, msgID: string) {
    while (!state.isEnding) {
      try {
        await js.publish(subject, body, { msgID, timeout: 1_000 });
        state.acknowledged++;
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  const running = (async () => {
    for (let number = 0; !state.isEnding; number++) {
      const installationId = installations[number % installations.length] as string;
      const index = Math.floor(number / installations.length) + 1;
      const turned = { distanceMm: (index % readingsOfDay) * distanceOfReadingMm };
      const { subject, body } = toPublication(readingMessage(installationId, index, turned, intervalMs));
      const id = deriveUuid(`${installationId} ${index}`);
      if (random() < 0.03) await publish(subject, body.slice(0, 40), `${id} bad`);
      await publish(subject, body, id);
      if (random() < 0.03) await publish(subject, body, `${id} again`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  const end = async () => {
    state.isEnding = true;
    await running;
    await connection.close();
  };
  whenFinished(end);
  return {
    get acknowledged() {
      return state.acknowledged;
    },
    end,
  };
}
