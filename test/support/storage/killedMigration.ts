// Migrates a database of the embedded engine, and kills its own process at the statement of a number: before it, or a moment after it began.
// Arguments: the folder, the number of the statement, `before` or `during`. Prints `migrated` when there were not that many.
import { pino } from 'pino';
import { openDatabase } from '../../../storage/database.ts';
import { migrate } from '../../../storage/migrations.ts';

const [path = '', killAt, moment] = process.argv.slice(2);
/** Long enough for a statement to begin, and too short for most to end. */
const beganMs = 3;
const database = openDatabase({ path });
const kill = () => process.kill(process.pid, 'SIGKILL');
let statements = 0;

function countStatements<Statement extends unknown[]>(run: (...statement: Statement) => Promise<void>) {
  return (...statement: Statement) => {
    if (++statements === Number(killAt)) {
      if (moment === 'before') kill();
      setTimeout(kill, beganMs);
    }
    return run(...statement);
  };
}

await migrate(
  {
    ...database,
    command: countStatements(database.command),
    insertBytes: countStatements(database.insertBytes),
  },
  pino({ level: 'silent' }),
);
await database.close();
process.stdout.write('migrated\n');
