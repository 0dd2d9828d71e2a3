import { Banner } from './Banner.tsx';
import { usePage } from './pageContext.ts';
import { Time } from './Time.tsx';

/** Names of bodies for people. The first pattern that fits counts. */
const names: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^\/v1\/status/, 'the state of the wheel'],
  [/^\/v1\/core/, 'the state of the contracts'],
  [/^\/v1\/mining/, 'what was minted'],
  [/^\/v1\/measurement\/stats/, 'statistics'],
  [/^\/v1\/settlements/, 'settlements'],
  [/^\/v1\/events/, 'the feed'],
  [/^\/v1\/owners/, 'what the owner has'],
  [/^\/v1\/miners\/\d+\/metadata/, 'the picture of the miner'],
  [/^\/v1\/miners/, 'the miner'],
  [/^\/v1\/days/, 'the day'],
  [/^\/v1\/(?:rounds|transactions)/, 'events'],
];

/** Names the parts that cannot be read again at the moment, with the time of what is shown. */
export function OldBanner() {
  const { old } = usePage();
  if (old.size === 0) return null;
  const parts = new Map(
    [...old].map(([path, atMs]) => [
      names.find(([pattern]) => pattern.test(path))?.[1] ?? path,
      new Date(atMs).toISOString(),
    ]),
  );
  return (
    <Banner severity="warning" title="A part cannot be read at the moment, and is shown as it was:">
      {[...parts].map(([name, at], index) => (
        <>
          {index > 0 && ', '}
          {name} at <Time at={at} as="minute" />
        </>
      ))}
      .
    </Banner>
  );
}
