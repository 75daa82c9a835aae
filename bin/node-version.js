import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const oldestMajor = 24;
const root = fileURLToPath(new URL('..', import.meta.url));
/** Whether this is an installed package and not a clone. */
const isInstalled = basename(dirname(root)) === 'node_modules';

function major(version) {
  return Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);
}

/**
 * Path of a Node that is new enough: the running one, else the one that the npm package `node` brings along; undefined
 * without either.
 */
export function suitableNode() {
  if (major(process.version) >= oldestMajor) return process.execPath;
  return candidates().find((path) => {
    if (!existsSync(path)) return false;
    const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    return status === 0 && major(stdout) >= oldestMajor;
  });
}

/** What to do about a Node that is too old. */
export function unsuitableNodeMessage() {
  const remedy = isInstalled
    ? 'run npm install node@26 in the same folder'
    : 'run npm ci with install scripts allowed (it brings a suitable Node along)';
  return `it needs Node ${oldestMajor} or newer and this is ${process.version}: ${remedy}, or install a newer Node`;
}

function candidates() {
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const found = [];
  for (const packages of [join(root, 'node_modules'), ...(isInstalled ? [dirname(root)] : [])]) {
    found.push(join(packages, 'node', 'bin', file));
    // With install scripts off the binary is in the platform package only.
    for (const folder of [join(packages, 'node', 'node_modules'), packages]) {
      if (!existsSync(folder)) continue;
      for (const name of readdirSync(folder)) {
        if (/^node(-bin)?-[a-z0-9]+-[a-z0-9]+$/.test(name)) found.push(join(folder, name, 'bin', file));
      }
    }
  }
  return found;
}
