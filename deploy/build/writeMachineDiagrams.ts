import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawMachine, machines } from './machineDiagrams.ts';

for (const machine of machines) {
  const path = new URL(`../../machines/diagrams/${machine.id}.mmd`, import.meta.url);
  writeFileSync(fileURLToPath(path), drawMachine(machine));
}
