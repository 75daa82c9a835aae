import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataTemplate } from './test-postgres.js';

/* scripts/test.js runs this before the tests, with the folder for the templates as argument. */

/** The number of templates. Few test processes start more servers. */
const count = 3;

const folder = process.argv[2] as string;
mkdirSync(folder);
await Promise.all(Array.from({ length: count }, (_, i) => makeDataTemplate(join(folder, String(i)))));
