import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Keeps the program's compiled code from one start to the next, which spares a good part of the processor time of a start.
 * It is written when a process ends. Whoever can write to its folder can make the program do anything, so only a folder is
 * used that nobody else can write to; without one, the code is compiled at each start.
 *
 * @param {string} program path of the file that is about to be loaded, here or in a process with the same environment
 * @param {NodeJS.ProcessEnv} environment NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE are left to Node
 */
export function keepCompiledCode(program, environment = process.env) {
  if (environment.NODE_COMPILE_CACHE !== undefined || environment.NODE_DISABLE_COMPILE_CACHE !== undefined) return;
  try {
    const folder = privateFolder(program, environment);
    if (folder === undefined) return;
    // Older versions of Node lack it.
    module.enableCompileCache?.(folder);
    // Workers and other processes that this one starts share it.
    environment.NODE_COMPILE_CACHE = folder;
  } catch {
    // A read-only or full disk, or no home: the program starts all the same.
  }
}

/** As with several projects on one machine. */
const mostBuilds = 4;

/** One folder for each build of the program. */
function privateFolder(program, environment) {
  const home = cacheHome(environment);
  const parent = join(home, 'plinth-compiled');
  const { mtimeMs, size } = statSync(program);
  const folder = join(parent, createHash('sha256').update(`${program} ${mtimeMs} ${size}`).digest('hex').slice(0, 16));
  // Not the folders above, which may be missing on purpose; below /proc, Node would try to make them for ever. And nothing
  // in the home of another user, as root with its HOME: that user could not write there any more.
  if (!existsSync(home)) {
    if (![0, process.getuid?.() ?? 0].includes(statSync(dirname(home)).uid)) return undefined;
    mkdirSync(home, { mode: 0o700 });
  }
  // Many homes can be written to by a group of which the user is the only member.
  if (!belongsToUs(home, 0o002)) return undefined;
  if (!existsSync(parent)) mkdirSync(parent, { mode: 0o700 });
  if (!belongsToUs(parent, 0o022)) return undefined;
  if (!existsSync(folder)) {
    removeOldest(parent, mostBuilds - 1);
    mkdirSync(folder, { mode: 0o700 });
  }
  return belongsToUs(folder, 0o022) ? folder : undefined;
}

/** Removes all builds but those that were written last. */
function removeOldest(parent, kept) {
  const builds = readdirSync(parent).map((name) => join(parent, name));
  const byAge = builds.map((path) => ({ path, at: lstatSync(path).mtimeMs })).sort((a, b) => b.at - a.at);
  for (const { path } of byAge.slice(kept)) rmSync(path, { recursive: true, force: true });
}

function cacheHome({ XDG_CACHE_HOME, LOCALAPPDATA }) {
  if (process.platform === 'win32') return LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  return XDG_CACHE_HOME || join(homedir(), '.cache');
}

/** Whether it is a folder of this user that nobody writes to by these bits. Windows keeps folders of users private. */
function belongsToUs(path, writers) {
  const found = lstatSync(path);
  if (!found.isDirectory()) return false;
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & writers) === 0);
}
