// Builds, then runs the tests: those that people run before a commit; with `--suite NAME` a suite of `test-suites.js`;
// or the files whose path contains one of the other arguments, whatever their suite. CI runs `--suite all`: all files,
// and some of them again on the distribution's PostgreSQL. Prints `N passed, N failed` at the end; fails when a test
// failed or none ran.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { suitableNode, unsuitableNodeMessage } from '../bin/node-version.js';
import { debianPrograms } from './postgres-programs.js';
import { runTestFiles } from './test-files.js';
import { groupTestFiles } from './test-groups.js';
import { filesOfSuite, onStockDatabase } from './test-suites.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const node = suitableNode();
/**
 * How many groups of files run at once: each is a process with its own Postgres. Many wait more than they compute, so
 * there may be more of them than cores.
 */
const concurrency = 3;
const mostAtOnce = 7;
/** A busy machine takes several times as long as an idle one; only a file that hangs takes longer than this. */
const limitMs = 600_000;
/** Far more memory than the files that run at the same time use. */
const plentyBytes = 8 * 2 ** 30;
/** The message about what `--suite all` can't run on a machine without a PostgreSQL of the distribution. */
const debianNeed = `${onStockDatabase.join(', ')} on another PostgreSQL need one below /usr/lib/postgresql`;
/** For fewer files than this, making a template for their databases takes longer than it saves. */
const fewFiles = 4;
/** The slowest files, slowest first, so that none of them starts last with nothing else left to run. */
const longest = [
  'e2e/console.',
  'e2e/consistency.',
  'e2e/failover.',
  'e2e/http-limits.',
  'e2e/node-agent.',
  'e2e/pooler.',
  'e2e/generated-kind.',
  'e2e/stream-faults.',
  'e2e/watch-contract.',
  'e2e/authentication-outage.',
  'e2e/api-endpoints.',
  'e2e/backup.',
  'e2e/kubectl-changes.',
  'e2e/shutdown.',
  'e2e/import.',
  'e2e/outage.',
  'e2e/attacks-aggregation.',
  'e2e/restore.',
  'e2e/workers.',
  'e2e/rolling-restart.',
  'embedded/embedded-postgres.',
  'cli/run-program.',
  'cli/paths.',
  'postgres/finder.',
  'large/large-request-thread.',
  'format/format.',
  'scheduler/scheduler-loop.',
];

function rank(path) {
  const index = longest.findIndex((part) => path.includes(part));
  if (index >= 0) return index;
  // Tests of storage often wait, so that other files can use the processors meanwhile.
  if (path.includes('/src/storage/')) return longest.length;
  // Tests with whole servers take longer than the rest.
  return path.includes('/test/e2e/') ? longest.length + 1 : longest.length + 2;
}

function run(args, environment = {}) {
  return spawnSync(node, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...environment } }).status ?? 1;
}

/**
 * Makes the folder for all temporary files of a run. Tests mostly write databases that are never needed again, so the
 * folder is in memory if there is plenty, unless TMPDIR is set.
 */
function makeFolder() {
  const inMemory = process.env.TMPDIR === undefined && freeBytes('/dev/shm') > plentyBytes;
  const folder = mkdtempSync(
    join(inMemory && process.availableMemory() > plentyBytes ? '/dev/shm' : tmpdir(), 'plinth-run-'),
  );
  // The user that runs the database must be able to enter the folder.
  chmodSync(folder, 0o755);
  return folder;
}

function freeBytes(path) {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** Sets the environment that the files of a run share. Cached compiled code saves time at the start of each program. */
function prepareShared(folder) {
  process.env.TMPDIR = folder;
  process.env.PLINTH_TEST_NEEDS = join(folder, 'needs');
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'plinth-tests');
}

/**
 * The environment of tests on one kind of database, with the data directories from which its servers are copied: copies
 * save time at each start.
 *
 * @throws {Error} when they can't be made
 */
function prepareDatabase(folder, name, environment = {}) {
  const templates = join(folder, `templates-${name}`);
  const program = join(root, 'dist', 'test', 'support', 'make-data-template.js');
  const made = run(['--enable-source-maps', program, templates], environment);
  if (made !== 0) throw new Error(`no template of a database could be made for ${name}`);
  return { ...environment, PLINTH_TEST_POSTGRES_TEMPLATES: templates };
}

/** Groups the files that run in one process, all on the same kind of database. */
function makeGroups(files, environment, place) {
  const lists = files.length < fewFiles ? files.map((file) => [file]) : groupTestFiles(files, root, longest);
  return lists.map((list) => ({ files: list, environment, place }));
}

/** The groups of everything that CI runs, the longest first. */
function allGroups(files, folder) {
  const programs = debianPrograms();
  const groups = makeGroups(files, prepareDatabase(folder, 'ours'));
  if (programs !== undefined) {
    const again = files.filter((file) => onStockDatabase.some((part) => file.includes(part)));
    const stock = prepareDatabase(folder, 'stock', { PLINTH_TEST_POSTGRES_BIN: programs });
    groups.push(...makeGroups(again, stock, `PostgreSQL of ${programs}`));
  } else if (process.env.CI === 'true') throw new Error(`${debianNeed}, which is not there`);
  return groups.toSorted((a, b) => rank(a.files[0]) - rank(b.files[0]));
}

/** The missing requirements of the tests that did not run, as recorded by test/support/needs.ts. */
function missingNeeds(record) {
  try {
    return [...new Set(readFileSync(record, 'utf8').trim().split('\n'))];
  } catch {
    return [];
  }
}

function printSlowest(times) {
  const files = times.flatMap(({ files, seconds, processorSeconds, suites }) =>
    files.length === 1 ? [[files[0], seconds, processorSeconds]] : Object.entries(suites),
  );
  console.log(`\nslowest of ${files.length} files, with the processor time of those that had a process of their own:`);
  for (const [file, seconds, processorSeconds] of files.toSorted((a, b) => b[1] - a[1]).slice(0, 10)) {
    const used = processorSeconds === undefined ? ' '.repeat(8) : `${processorSeconds.toFixed(1).padStart(6)} s`;
    console.log(`${seconds.toFixed(1).padStart(7)} s ${used}  ${file}`);
  }
  const sum = times.reduce((all, { processorSeconds = 0 }) => all + processorSeconds, 0);
  if (sum > 0) console.log(`${Math.round(sum)} s of processor time in all`);
}

async function main() {
  if (node === undefined) {
    console.error(`The tests cannot run: Plinth: ${unsuitableNodeMessage()}`);
    return 1;
  }
  if (node !== process.execPath) return run([fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
  const built = run([join(root, 'scripts', 'build.js'), '--if-stale']);
  if (built !== 0) return built;
  // Older versions of Node lack globSync, but never get here.
  const { globSync } = await import('node:fs');
  const { values, positionals: filters } = parseArgs({
    options: { suite: { type: 'string' } },
    allowPositionals: true,
  });
  const all = globSync(['dist/src/**/*.spec.js', 'dist/test/**/*.spec.js'], { cwd: root });
  const chosen =
    filters.length > 0 && values.suite === undefined
      ? all.filter((path) => filters.some((filter) => path.includes(filter)))
      : filesOfSuite(all, values.suite);
  if (chosen === undefined) {
    console.error(`There is no suite ${values.suite}.`);
    return 1;
  }
  const files = chosen.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stop.abort());
  const print = (line) => console.log(line);
  const folder = makeFolder();
  let outcome;
  let needs = [];
  try {
    prepareShared(folder);
    const groups =
      values.suite === 'all'
        ? allGroups(files, folder)
        : makeGroups(files, files.length < fewFiles ? {} : prepareDatabase(folder, 'ours'));
    outcome = await runTestFiles(groups, { node, root, concurrency, mostAtOnce, limitMs, print, signal: stop.signal });
    needs = missingNeeds(join(folder, 'needs'));
    if (values.suite === 'all' && debianPrograms() === undefined) needs.push(debianNeed);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  const { passed, failed, times } = outcome;
  if (files.length > 20) printSlowest(times);
  if (process.env.PLINTH_TEST_TIMES) writeFileSync(process.env.PLINTH_TEST_TIMES, JSON.stringify(times));
  if (needs.length > 0) console.log(`did not run on this machine: ${needs.join('; ')}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 && !stop.signal.aborted ? 0 : 1;
}

process.exitCode = await main();
