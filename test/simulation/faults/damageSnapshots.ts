import type { SimulatedClickHouse } from '../clickhouse/clickHouseServer.ts';
import type { StoredTable } from '../clickhouse/storedTable.ts';
import type { SnapshotDamage } from '../plan/plan.ts';
import type { Random } from '../world/random.ts';

/** Damages the stored snapshots of streams, as a disk may do while no process runs. */
export function damageSnapshots(
  clickHouse: SimulatedClickHouse,
  damage: SnapshotDamage,
  random: Random,
): void {
  const table = clickHouse.tables.get('fold_states');
  if (table === undefined) return;
  const streams = [...new Set(table.rows.map(({ values }) => values[table.indexOf('stream')]))];
  for (const stream of streams) if (!random.oneOf(3)) damageStream(table, stream, damage, random);
}

function damageStream(table: StoredTable, stream: unknown, damage: SnapshotDamage, random: Random) {
  const [streamAt, positionAt, chunkAt, payloadAt] = ['stream', 'position', 'chunk', 'payload'].map(
    table.indexOf,
  ) as [number, number, number, number];
  const own = table.rows.filter(({ values }) => values[streamAt] === stream);
  const positions = [...new Set(own.map(({ values }) => Number(values[positionAt])))].sort((a, b) => b - a);
  const lost =
    damage === 'newestLost' ? 1 : damage === 'severalLost' ? random.integer(1, 5) : positions.length;
  const newest = positions[0];
  switch (damage) {
    case 'newestLost':
    case 'severalLost':
    case 'allLost': {
      const gone = new Set(positions.slice(0, lost));
      table.rows = table.rows.filter(
        ({ values }) => values[streamAt] !== stream || !gone.has(Number(values[positionAt])),
      );
      return;
    }
    case 'torn': {
      const last = own.filter(({ values }) => values[positionAt] === newest);
      const chunk = Math.max(...last.map(({ values }) => Number(values[chunkAt])));
      table.rows = table.rows.filter((row) => !last.includes(row) || Number(row.values[chunkAt]) !== chunk);
      return;
    }
    case 'flipped': {
      const row = random.pick(own);
      const payload = String(row.values[payloadAt]);
      const at = random.integer(0, Math.max(0, payload.length - 3));
      const flipped = `${payload.slice(0, at)}${payload[at] === 'A' ? 'B' : 'A'}${payload.slice(at + 1)}`;
      const values = row.values.map((value, index) => (index === payloadAt ? flipped : value));
      table.rows = table.rows.map((one) => (one === row ? { values } : one));
      return;
    }
  }
}
