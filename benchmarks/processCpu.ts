import { readFileSync } from 'node:fs';

/** User and system time of a process in milliseconds, from ticks of ten. */
export function readCpuMs(pid: number): number {
  const [user, system] = readTimesMs(pid);
  return user + system;
}

/** The same for this process and its children, including ended children that were waited for. */
export function readFamilyCpuMs(): number {
  const { pid } = process;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const running = children.filter((child) => child !== '').map((child) => readCpuMs(Number(child)));
  return [...readTimesMs(pid), ...running].reduce((sum, ms) => sum + ms, 0);
}

/** User and system time of the process, then of the children it waited for. */
function readTimesMs(pid: number): [number, number, number, number] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const read = (field: number) => Number(fields[field]) * 10;
  return [read(11), read(12), read(13), read(14)];
}
