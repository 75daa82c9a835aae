// Runs the suites of storage, of SQL and of whole servers on every supported version of PostgreSQL with its default
// settings, and through PgBouncer in each supported mode; prints a table at the end. `--on 14,17,session` picks some of
// the runs; other arguments pick the files whose path contains one of the arguments.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { debianPrograms, npmPrograms, supportedMajors, versionOf } from './postgres-programs.js';

const suites = ['src/storage/', 'src/loops/controllers/sql-', 'src/tools/console/sql', 'test/e2e/'];
const poolers = {
  session: 'PgBouncer, session',
  'direct-listen': 'PgBouncer, transaction, direct LISTEN',
  polling: 'PgBouncer, transaction only',
};

/** The runs: the name of each in the table, and the environment of its tests. */
function variations() {
  const versions = supportedMajors.map((major) => ({
    key: String(major),
    prepare() {
      const debian = debianPrograms(major);
      const programs = debian ?? npmPrograms(major);
      const source = debian === undefined ? 'npm' : 'distribution';
      return { name: `PostgreSQL ${versionOf(programs)} (${source})`, env: { PLINTH_TEST_POSTGRES_BIN: programs } };
    },
  }));
  const pooled = Object.entries(poolers).map(([mode, name]) => ({
    key: mode,
    // Only the tests of whole servers use a pooler.
    suites: ['test/e2e/'],
    prepare: () => ({ name, env: { PLINTH_TEST_POOLER: mode } }),
  }));
  return [...versions, ...pooled];
}

function readArguments(args) {
  const index = args.findIndex((arg) => arg === '--on' || arg.startsWith('--on='));
  if (index < 0) return { keys: undefined, filters: args };
  const isSeparate = args[index] === '--on';
  const list = isSeparate ? (args[index + 1] ?? '') : args[index].slice('--on='.length);
  return { keys: list.split(','), filters: args.toSpliced(index, isSeparate ? 2 : 1) };
}

/** Runs the tests, prints their output, and resolves with their counts. */
function runTests(filters, env) {
  const begun = performance.now();
  const script = fileURLToPath(new URL('test.js', import.meta.url));
  const child = spawn(process.execPath, [script, ...filters], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => child.kill(signal));
  let text = '';
  child.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    text += chunk;
  });
  return new Promise((done) => {
    child.once('close', (code, signal) => {
      const [, passed = '0', failed = '1'] = /^(\d+) passed, (\d+) failed$/m.exec(text) ?? [];
      const files = [...text.matchAll(/FAILED {2}(\S+?): /g)].map(([, file]) => file);
      const seconds = (performance.now() - begun) / 1000;
      done({
        passed: Number(passed),
        failed: Number(failed),
        files,
        seconds,
        isGood: code === 0,
        isEnded: signal !== null,
      });
    });
  });
}

async function main() {
  const { keys, filters } = readArguments(process.argv.slice(2));
  const all = variations();
  const unknown = (keys ?? []).filter((key) => all.every((variation) => variation.key !== key));
  if (unknown.length > 0) {
    console.error(`check-postgres: no run is called ${unknown.join()}: ${all.map(({ key }) => key).join()}`);
    return 1;
  }
  const rows = [];
  let isGood = true;
  for (const variation of all.filter(({ key }) => keys === undefined || keys.includes(key))) {
    const { name, env } = variation.prepare();
    console.log(`\n==> ${name}`);
    const outcome = await runTests(filters.length > 0 ? filters : (variation.suites ?? suites), env);
    isGood &&= outcome.isGood;
    const minutes = (outcome.seconds / 60).toFixed(1);
    rows.push(`| ${name} | ${outcome.passed} | ${outcome.failed} | ${minutes} | ${outcome.files.join(' ')} |`);
    if (outcome.isEnded) break;
  }
  console.log(
    ['', '| | passed | failed | minutes | files that failed |', '| --- | --- | --- | --- | --- |', ...rows].join('\n'),
  );
  return isGood ? 0 : 1;
}

process.exitCode = await main();
