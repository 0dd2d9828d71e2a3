// The build runs it from `dist/client`: writes `http/client/responses.ts`, which the repository does not hold.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeClientTypes } from './clientTypes.ts';

writeFileSync(resolve(import.meta.dirname, '../../http/client/responses.ts'), await writeClientTypes());
