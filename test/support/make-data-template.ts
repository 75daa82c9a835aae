import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataTemplate } from './test-postgres.js';

/* Run by scripts/test.js before the tests, with the folder to make templates in. */

/** Few test processes start more servers. */
const count = 3;

const folder = process.argv[2] as string;
mkdirSync(folder);
await Promise.all(Array.from({ length: count }, (_, i) => makeDataTemplate(join(folder, String(i)))));
