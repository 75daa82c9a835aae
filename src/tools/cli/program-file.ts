import { fileURLToPath } from 'node:url';

/** The file that Node runs as `plinth`. */
export const programFile = fileURLToPath(new URL('../../../../bin/plinth.js', import.meta.url));
