import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Measurement } from './measureInterleaved.ts';
import { pinToCore } from './pinToCore.ts';

const run = promisify(execFile);
const connections = 64;
/** Server and load have different cores. */
export const [serverCore, loadCore] = [0, 1] as const;
const microsByUnit: Record<string, number> = { us: 1, ms: 1_000, s: 1_000_000 };

interface LoadRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly seconds: number;
}

/**
 * Measures the requests per second that a server answers to `wrk`, with their p50 and p99 latencies, and the CPU time per request in the answering
 * thread.
 *
 * @param pid process of the server, whose first thread answers.
 * @throws Error if a response is neither 2xx nor 3xx.
 */
export async function measureLoad({ url, headers, seconds }: LoadRequest, pid: number): Promise<Measurement> {
  const headerOptions = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...headerOptions, url];
  const [program, ...rest] = pinToCore(loadCore, ['wrk', ...options]);
  const beforeNs = readThreadCpuNs(pid);
  const { stdout } = await run(program, rest);
  const cpuMicros = (readThreadCpuNs(pid) - beforeNs) / 1_000;
  const refused = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.+)/.exec(stdout);
  if (refused !== null) throw new Error(`${url} does not answer as it should:\n${stdout}`);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  const latencies = { 'p50 µs': latency(stdout, 50), 'p99 µs': latency(stdout, 99) };
  return { value: rate, others: { ...latencies, 'CPU µs/request': cpuMicros / (rate * seconds) } };
}

/**
 * CPU time in nanoseconds of a process's first thread, which answers requests in Node and in an nginx of one process. Unlike a rate it hardly depends on
 * other load of the machine.
 */
function readThreadCpuNs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0]);
}

function latency(output: string, percentile: number): number {
  const [, figure, unit = ''] =
    new RegExp(`^\\s+${percentile}%\\s+([\\d.]+)(us|ms|s)$`, 'm').exec(output) ?? [];
  return Number(figure) * (microsByUnit[unit] ?? Number.NaN);
}

/** @throws Error if wrk is not installed. */
export async function readWrkVersion(): Promise<string> {
  // It prints its version and fails.
  const { stdout } = await run('wrk', ['-v']).catch((error: { stdout: string }) => error);
  const version = /wrk \S+/.exec(stdout)?.[0];
  if (version === undefined) throw new Error('wrk is missing: sudo apt-get install wrk');
  return version;
}
