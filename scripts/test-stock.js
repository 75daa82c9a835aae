// Runs tests on the PostgreSQL of the distribution with its default settings: the storage suites and the end-to-end
// suites, or the files whose path contains one of the arguments. PLINTH_TEST_POSTGRES_BIN names the folder of its
// programs; the default is Debian's newest version.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { debianPrograms } from './postgres-programs.js';

const suites = ['src/storage/', 'src/loops/controllers/sql-views', 'test/e2e/'];

const programs = process.env.PLINTH_TEST_POSTGRES_BIN || debianPrograms();
if (programs === undefined) {
  console.error(`There is no PostgreSQL below /usr/lib/postgresql: install one, or set PLINTH_TEST_POSTGRES_BIN.`);
  process.exitCode = 1;
} else {
  console.log(`PostgreSQL of ${programs}`);
  const filters = process.argv.slice(2);
  const script = fileURLToPath(new URL('test.js', import.meta.url));
  const env = { ...process.env, PLINTH_TEST_POSTGRES_BIN: programs };
  const args = [script, ...(filters.length > 0 ? filters : suites)];
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? 1;
}
