import type { Deployment } from '../../../deploy/configuration/deploymentFile.ts';
import type { ServiceSettings } from '../../../deploy/service/serviceSettings.ts';
import { SimulationFailure } from '../checks/failure.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { type Role, type ServiceProcess, startServiceProcess } from './simulatedService.ts';

/** The running processes of the service. */
export type Fleet = ReturnType<typeof createFleet>;

interface FleetOptions {
  readonly world: SimulatedWorld;
  readonly deployment: Deployment;
  readonly settings?: Partial<ServiceSettings>;
  readonly onLog?: (line: string) => void;
  readonly onEnded: (process: ServiceProcess, error: unknown) => void;
}

/** No more processes are started than this, except one that ingests if none does. */
const processesMax = 4;

export function createFleet({ world, deployment, settings, onLog, onEnded }: FleetOptions) {
  let processes: { readonly process: ServiceProcess; readonly role: Role }[] = [];
  const starting = new Set<Promise<unknown>>();
  let started = 0;

  const alive = () => {
    processes = processes.filter(({ process }) => process.isAlive);
    return processes;
  };

  async function start(role: Role): Promise<ServiceProcess> {
    const attempt = startServiceProcess({
      world,
      name: `${role} ${++started}`,
      deployment,
      role,
      ...(settings && { settings }),
      ...(onLog && { onLog }),
    });
    starting.add(attempt);
    try {
      const process = await attempt;
      processes.push({ process, role });
      return process;
    } finally {
      starting.delete(attempt);
    }
  }

  return {
    get alive(): readonly ServiceProcess[] {
      return alive().map(({ process }) => process);
    },
    roleOf: (process: ServiceProcess): Role => {
      const found = processes.find((one) => one.process === process);
      if (found === undefined) throw new SimulationFailure('simulator', `${process.name} is not known`);
      return found.role;
    },
    start: (role: Role): Promise<ServiceProcess> => {
      const last = alive().at(-1);
      // Replicas alone would wait for ever.
      const isNeeded = role === 'run' && !processes.some((one) => one.role === 'run');
      return last !== undefined && processes.length >= processesMax && !isNeeded
        ? Promise.resolve(last.process)
        : start(role);
    },
    /** Resolves when all requested processes have started. */
    settled: async () => {
      await Promise.all(starting);
    },
    /** Replaces processes that have ended by themselves, as a supervisor does. */
    replaceEnded: () => {
      for (const { process, role } of alive()) {
        const error = process.failure();
        if (error === null) continue;
        onEnded(process, error);
        process.kill();
        void start(role);
      }
    },
  };
}
