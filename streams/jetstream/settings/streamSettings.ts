import type { Logger } from 'pino';
import { streamNames } from '../../../actors/messages/subjects.ts';
import { isRefusedAs, type StreamPort } from '../../nats/streamPort.ts';
import { findStreamRisks, type StreamRisk } from './streamRisks.ts';

const identify = ({ stream, setting, value }: StreamRisk) => `${stream} ${setting} ${value}`;

export type StreamSettingsWatch = ReturnType<typeof createStreamSettingsWatch>;

/** Settings of the streams that can lose or refuse messages, as the last check found them. */
export function createStreamSettingsWatch(options: {
  readonly jetStream: () => StreamPort;
  readonly retentionDays: number;
  readonly logger: Logger;
}) {
  const { jetStream, retentionDays, logger } = options;
  let risks: readonly StreamRisk[] = [];
  let running: Promise<readonly StreamRisk[]> | null = null;

  async function checkOnce(): Promise<readonly StreamRisk[]> {
    const found: StreamRisk[] = [];
    for (const stream of streamNames) {
      try {
        const { config } = await jetStream().info(stream);
        found.push(...findStreamRisks(config, { stream, retentionDays }));
      } catch (error) {
        if (!isRefusedAs('missing', error)) throw error;
      }
    }
    const [before, now] = [new Set(risks.map(identify)), new Set(found.map(identify))];
    for (const risk of found) {
      const { stream, setting, value, remedy } = risk;
      if (!before.has(identify(risk)))
        logger.warn({ stream, setting, value, remedy }, `a setting of the stream is a risk: ${risk.detail}`);
    }
    for (const risk of risks)
      if (!now.has(identify(risk)))
        logger.info(
          { stream: risk.stream, setting: risk.setting },
          'a setting of the stream is no longer a risk',
        );
    risks = found;
    return risks;
  }

  return {
    /** Looks at all streams, and logs what has changed. A call during a check shares it. */
    check: () => {
      running ??= checkOnce().finally(() => {
        running = null;
      });
      return running;
    },
    get risks() {
      return risks;
    },
  };
}
