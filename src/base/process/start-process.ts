import { readFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';
import { beginStart } from './engine-phases.js';
import { KeptCode } from './kept-code.js';

/**
 * Runs a process from the program's single bundle file. Where Node caches compiled code, this file's code is cached as
 * well, but with all functions that a process has called, not only those that every start calls first: the next process
 * compiles none of them again. With source maps on, Node loads the file itself, since it maps only what it loads.
 *
 * @param file path of the bundle
 * @param name of the process, a key of `processes`
 * @param codeAfterMs when the cache is written, if not at the exit of the process: see {@link KeptCode.keepFrom}
 */
export function startProcess(file: string, name: string, codeAfterMs?: number): void {
  const requireFrom = createRequire(file);
  if (process.sourceMapsEnabled) {
    run(requireFrom(file), name);
    return;
  }
  const bytes = readFileSync(file);
  const folder = getCompileCacheDir();
  // The name is part of the cache key: each command runs other parts of the file.
  const kept =
    folder === undefined ? undefined : KeptCode.open({ folder, file, bytes, name: `${name}-${process.argv[2] ?? ''}` });
  // The build checks that the file has only ASCII characters; reading it as Latin-1 costs least.
  const script = new Script(bytes.toString('latin1'), {
    filename: file,
    ...(kept?.data === undefined ? {} : { cachedData: kept.data }),
  });
  kept?.keepFrom(script, codeAfterMs);
  kept?.release();
  beginStart();
  const module = { exports: {} };
  // Without `module`, the file is run like every CommonJS module: as a function of these parameters.
  script.runInThisContext()(module.exports, requireFrom, module, file, dirname(file));
  run(module.exports, name);
}

function run(exports: unknown, name: string): void {
  const { processes } = exports as { readonly processes: Readonly<Record<string, () => Promise<unknown>>> };
  void processes[name]?.();
}
