const heading = '## Unreleased\n';

export function releaseChangelog(changelog: string, version: string, day: string): string {
  const [before, after] = changelog.split(heading);
  if (before === undefined || after === undefined)
    throw new Error(`the changelog has no section "${heading.trim()}"`);
  const [entries = ''] = after.split(/^## /m);
  if (entries.trim() === '') throw new Error('nothing is unreleased');
  return `${before}${heading}\n## ${version} (${day})\n${after}`;
}

/** @throws Error unless `version` is a version above `last`. */
export function requireNewer(last: string, version: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`expected a version such as 1.2.3, not ${version}`);
  const [before, now] = [parse(last), parse(version)];
  const place = before.findIndex((part, index) => part !== now[index]);
  if (place === -1 || (before[place] as number) > (now[place] as number))
    throw new Error(`${version} is not above ${last}`);
}

function parse(version: string): number[] {
  return version.split('.').map(Number);
}
