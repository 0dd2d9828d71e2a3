import type { Database } from '../../../storage/clickhouse/database.ts';

/** Counts the questions to a database, or those that hold a text. */
export function countSelects(real: Database, text = '') {
  let count = 0;
  const select: Database['select'] = (sql, ...rest) => {
    if (sql.includes(text)) count++;
    return real.select(sql, ...rest);
  };
  return { database: { ...real, select }, count: () => count };
}
