import { once } from 'node:events';
import { createServer } from 'node:net';
import { readErrorCode } from '../../actors/readErrorCode.ts';
import { PortUnavailable } from '../../http/server/engine/listener.ts';
import { type Configuration, ConfigurationError } from '../configuration/configuration.ts';

/** The variables of a port's address and number. */
const operatorsPort = ['MINER_OPS_HOST', 'MINER_OPS_PORT'] as const;
const publicPort = ['MINER_HOST', 'MINER_HTTP_PORT'] as const;

/** Why a port cannot be opened, if another port of the same address may be free. Any other reason is about the address. */
const portProblems: ReadonlySet<unknown> = new Set(['EADDRINUSE', 'EACCES']);

/**
 * Checks that the ports of a process can be opened, before anything else starts.
 *
 * @throws PortUnavailable
 * @throws ConfigurationError if this machine does not have the address.
 */
export async function requireFreePorts(
  configuration: Configuration,
  { serve }: { readonly serve: boolean },
): Promise<void> {
  for (const [hostSetting, setting] of serve ? [operatorsPort, publicPort] : [operatorsPort]) {
    const { [hostSetting]: host, [setting]: port } = configuration;
    const problem = await findProblem(host, port);
    if (problem === null) continue;
    if (portProblems.has(problem)) throw new PortUnavailable(host, port, setting);
    throw new ConfigurationError([
      `${hostSetting} is ${JSON.stringify(host)}; expected an address of this machine, such as 0.0.0.0 (${problem})`,
    ]);
  }
}

/** Whether this process can listen there now. */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  return (await findProblem(host, port)) === null;
}

/** Why this process cannot listen there now, as a code such as `EADDRINUSE`; null if it can. */
async function findProblem(host: string, port: number): Promise<string | null> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return null;
  } catch (error) {
    return readErrorCode(error) ?? String(error);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
