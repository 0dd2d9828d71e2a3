import type { Logger } from 'pino';
import { ConfigurationError } from '../configuration/configuration.ts';

/**
 * Logs an error if the substitute for the native HTTP engine serves the public port: otherwise the service would only seem slow. Warns of the engine of
 * older systems, which leaves some valid requests without an answer.
 *
 * @throws ConfigurationError if production would be served by the substitute.
 */
export function checkHttpEngine(
  { implementation, isOld }: { implementation: 'native' | 'fallback'; isOld: boolean },
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
  if (env.NODE_ENV === 'production')
    throw new ConfigurationError([
      `NODE_ENV is production, and the native HTTP engine does not load with Node ${version} on ${platform} ${arch}; ` +
        'install a version of Node and a system that it is built for (RUNNING.md, Platforms)',
    ]);
  logger.error(
    { node: version, platform, arch, forced: env.UWS_USE_FALLBACK !== undefined },
    'the native HTTP engine is not in use: requests are served by its substitute in JavaScript, at a fraction of the speed (RUNNING.md, Platforms)',
  );
}
