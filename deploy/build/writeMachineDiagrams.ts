import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawMachines } from './machineDiagrams.ts';

const path = fileURLToPath(new URL('../../machines/README.md', import.meta.url));
const heading = '## Diagrams\n';
const [before = ''] = readFileSync(path, 'utf8').split(heading);
writeFileSync(
  path,
  `${before.trimEnd()}\n\n${heading}\nMade from the machines by \`npm run diagrams\`; \`any\` stands for every state.\n\n${drawMachines()}\n`,
);
