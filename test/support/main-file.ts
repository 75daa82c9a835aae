import { fileURLToPath } from 'node:url';

/** The program as it is shipped: what the tests start as processes of their own. */
export const mainFile = fileURLToPath(new URL('../../program/main.js', import.meta.url));
