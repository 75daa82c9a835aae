import { fileURLToPath } from 'node:url';

/** The program as it is shipped: what the tests start as processes of their own. */
export const mainFile = fileURLToPath(new URL('../../program/main.js', import.meta.url));

/** The same program in its compiled files, of which a module loaded before it can replace parts. */
export const compiledMainFile = fileURLToPath(new URL('../../src/main.js', import.meta.url));
