// Builds, then runs the tests: all, or the files whose path contains one of the arguments.
// Ends with the line `N passed, N failed`; fails when a test failed or none ran.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suitableNode, unsuitableNodeMessage } from '../bin/node-version.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const node = suitableNode();

function run(args) {
  return spawnSync(node, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

async function main() {
  if (node === undefined) {
    console.error(`The tests cannot run: Plinth: ${unsuitableNodeMessage()}`);
    return 1;
  }
  if (node !== process.execPath) return run([fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
  const built = run([join(root, 'scripts', 'build.js')]);
  if (built !== 0) return built;
  // Absent in versions of Node that do not get this far.
  const { globSync } = await import('node:fs');
  const filters = process.argv.slice(2);
  const files = globSync(['dist/src/**/*.spec.js', 'dist/test/**/*.spec.js'], { cwd: root }).filter(
    (path) => filters.length === 0 || filters.some((filter) => path.includes(filter)),
  );
  if (files.length === 0) {
    console.log('0 passed, 0 failed');
    return 1;
  }
  return run([
    '--enable-source-maps',
    '--test',
    // Each file is a process with a Postgres of its own.
    '--test-concurrency=2',
    '--test-timeout=300000',
    '--test-reporter=./scripts/test-reporter.js',
    '--test-reporter-destination=stdout',
    ...files.sort(),
  ]);
}

process.exitCode = await main();
