import type { Logger } from 'pino';
import { type Configuration, ConfigurationError } from '../configuration/configuration.ts';

/**
 * Logs an error if the substitute for the native HTTP engine serves the public port: otherwise the service would only seem slow.
 *
 * @throws ConfigurationError if the configuration refuses the substitute.
 */
export function checkHttpEngine(
  implementation: 'native' | 'fallback',
  policy: Configuration['MINER_HTTP_FALLBACK'],
  logger: Logger,
): void {
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
