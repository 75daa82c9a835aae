import { fileURLToPath } from 'node:url';

/** The program as it is shipped, which tests start as separate processes. */
export const mainFile = fileURLToPath(new URL('../../program/main.js', import.meta.url));

/** The same program as separate compiled files, so that a module loaded before it can replace parts. */
export const compiledMainFile = fileURLToPath(new URL('../../src/main.js', import.meta.url));
