import { makeDataTemplate } from './test-postgres.js';

/* Run by scripts/test.js before the tests, with the path of the template to make. */

await makeDataTemplate(process.argv[2] as string);
