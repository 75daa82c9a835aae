// Runs several test files in one process: each is a suite, so that its hooks are its own.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { after, describe } from 'node:test';

const require = createRequire(import.meta.url);
for (const file of process.argv.slice(2)) describe(file, () => void require(resolve(file)));

after(() => globalThis[Symbol.for('plinth.test.endShared')]?.());
