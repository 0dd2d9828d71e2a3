import type { Logger } from 'pino';
import { type Configuration, ConfigurationError } from '../configuration/configuration.ts';

/**
 * Logs an error if the substitute for the native HTTP engine serves the public port: otherwise the service would only seem slow. Warns of the engine of
 * older systems, which leaves some valid requests without an answer.
 *
 * @throws ConfigurationError if the configuration refuses the substitute.
 */
export function checkHttpEngine(
  { implementation, isOld }: { implementation: 'native' | 'fallback'; isOld: boolean },
  policy: Configuration['MINER_HTTP_FALLBACK'],
  logger: Logger,
): void {
  if (isOld) {
    logger.warn(
      "the HTTP engine of this platform does not answer HTTP/1.0, nor requests with a header whose name has other characters than letters, digits and '-': " +
        'put a proxy in front that speaks HTTP/1.1 and leaves out such headers (RUNNING.md, Platforms)',
    );
  }
  if (implementation === 'native') return;
  const { version, platform, arch, env } = process;
  const isAccepted = policy === 'accept' || (policy === 'development' && env.NODE_ENV !== 'production');
  if (!isAccepted) {
    throw new ConfigurationError([
      `MINER_HTTP_FALLBACK is ${policy}, and the native HTTP engine does not load with Node ${version} on ${platform} ${arch}; ` +
        'expected a version of Node and a platform that it is built for, or `accept`',
    ]);
  }
  logger.error(
    { node: version, platform, arch, forced: env.UWS_USE_FALLBACK !== undefined },
    'the native HTTP engine is not in use: requests are served by its substitute in JavaScript, at a fraction of the speed',
  );
}
