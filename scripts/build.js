// Compiles the project into dist/ and bundles the program (bundle.js), the page of the console (console.js) and the
// library for tests (test-library.js).
//   --if-stale  builds only if a source is newer than the last build
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.js';
import { buildConsole } from './console.js';
import { nestConfig } from './nest-config.js';
import { buildTestLibrary } from './test-library.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const sourceFolders = ['src', 'test', 'bench'];
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const config = nestConfig(root);
/**
 * How many threads check types. Each of them computes again what others also need, so more threads than cores, as the
 * compiler has by itself, take longer.
 */
const checkers = Math.min(4, availableParallelism());
/** A file that every build without errors writes; the compiler's own record also exists after a build with errors. */
const record = join(root, 'dist', '.complete');

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

function isStale() {
  if (!existsSync(record)) return true;
  const built = statSync(record).mtimeMs;
  const inputs = ['package.json', 'package-lock.json', 'nest-cli.json', config.project].map((name) => join(root, name));
  for (const folder of [...sourceFolders, 'scripts']) inputs.push(...filesBelow(join(root, folder)));
  return inputs.some((path) => statSync(path).mtimeMs > built) || orphans().length > 0;
}

/** Compiled files without a source: a test among them would still run. */
function orphans() {
  return sourceFolders.flatMap((folder) =>
    filesBelow(join(root, 'dist', folder)).filter((path) => {
      const source = path.replace(/\.js(\.map)?$/, '.ts').replace(join(root, 'dist'), root.replace(/[\\/]$/, ''));
      return /\.js(\.map)?$/.test(path) && !existsSync(source);
    }),
  );
}

async function build() {
  if (!existsSync(compiler)) {
    if (process.argv.includes('--if-stale') && existsSync(record)) return 0;
    console.error('The compiler is not installed: run npm ci (without --omit=dev).');
    return 1;
  }
  if (config.deleteOutDir) rmSync(join(root, 'dist'), { recursive: true, force: true });
  for (const path of orphans()) rmSync(path);
  rmSync(record, { force: true });
  // Users who only want to start the program would otherwise see no output for a while.
  if (process.argv.includes('--if-stale')) console.log('Building Plinth: half a minute, or longer on a busy machine');
  // Sources saved during the compilation must be newer than the record of the build.
  const begun = new Date();
  const { status } = spawnSync(
    process.execPath,
    [compiler, '-p', join(root, config.project), '--checkers', String(checkers)],
    { cwd: root, stdio: 'inherit' },
  );
  if (status !== 0) return status ?? 1;
  let inputs;
  try {
    inputs = [...(await bundle(root)), ...(await buildConsole(root, compiler))];
    await buildTestLibrary(root, compiler);
  } catch (error) {
    console.error(error.message);
    return 1;
  }
  // The bundled files, whose origin pack-files.js states.
  writeFileSync(join(root, 'dist', 'bundled.json'), `${JSON.stringify([...new Set(inputs)].sort())}\n`);
  writeFileSync(record, `${begun.toISOString()}\n`);
  utimesSync(record, begun, begun);
  return 0;
}

process.exitCode = process.argv.includes('--if-stale') && !isStale() ? 0 : await build();
