import type { SimulatedClickHouse } from '../clickhouse/simulatedClickHouse.ts';
import type { SnapshotDamage } from '../plan/plan.ts';
import type { Random } from '../world/random.ts';

/** Damages the stored snapshots of streams, as a disk may do while no process runs. */
export function damageSnapshots(
  clickHouse: SimulatedClickHouse,
  damage: SnapshotDamage,
  random: Random,
): void {
  const streams = clickHouse.select('SELECT stream FROM fold_states GROUP BY stream ORDER BY stream');
  for (const [stream] of streams)
    if (!random.oneOf(3)) damageStream(clickHouse, String(stream), damage, random);
}

function damageStream(
  { select, change }: SimulatedClickHouse,
  stream: string,
  damage: SnapshotDamage,
  random: Random,
) {
  const positions = select(
    'SELECT position FROM fold_states WHERE stream = {stream:String} GROUP BY position ORDER BY position DESC',
    { stream },
  ).map(([position]) => Number(position));
  const ofStream = `stream = '${stream}'`;
  const lost =
    damage === 'newestLost' ? 1 : damage === 'severalLost' ? random.integer(1, 5) : positions.length;
  switch (damage) {
    case 'newestLost':
    case 'severalLost':
    case 'allLost':
      change(
        'fold_states',
        `ALTER TABLE fold_states DELETE WHERE ${ofStream} AND position IN (${positions.slice(0, lost)})`,
      );
      return;
    case 'torn': {
      const newest = `${ofStream} AND position = ${positions[0]}`;
      const [[chunk] = []] = select(`SELECT max(chunk) FROM fold_states WHERE ${newest}`);
      change('fold_states', `ALTER TABLE fold_states DELETE WHERE ${newest} AND chunk = ${chunk}`);
      return;
    }
    case 'flipped': {
      const rows = select(
        `SELECT snapshot, chunk, length(payload) FROM fold_states WHERE ${ofStream} ORDER BY position, snapshot, chunk`,
      );
      const [snapshot, chunk, length] = random.pick(rows);
      const at = random.integer(0, Math.max(0, Number(length) - 3)) + 1;
      const flipped = `if(substring(payload, ${at}, 1) = 'A', 'B', 'A')`;
      const [before, behind] = [`substring(payload, 1, ${at - 1})`, `substring(payload, ${at + 1})`];
      change(
        'fold_states',
        `ALTER TABLE fold_states UPDATE payload = concat(${before}, ${flipped}, ${behind})
         WHERE snapshot = '${snapshot}' AND chunk = ${chunk}`,
      );
      return;
    }
  }
}
