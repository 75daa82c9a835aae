import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** How often the removal of a cgroup is tried: killed processes need a moment to end. */
const attempts = 20;
const pauseMs = 50;

/**
 * Removes a cgroup with all cgroups below it, and kills the processes in them. Does nothing if the cgroup does not
 * exist.
 *
 * @throws Error when a process does not end
 */
export async function removeCgroup(folder: string): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (await removeTree(folder)) return;
    await killAll(folder);
    await delay(pauseMs);
  }
  throw new Error(`processes in the cgroup ${folder} do not end`);
}

/** Removes the cgroups that contain no process. Returns whether all were removed. */
async function removeTree(folder: string): Promise<boolean> {
  for (const child of await childrenOf(folder)) if (!(await removeTree(child))) return false;
  try {
    await fs.rmdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EBUSY' || code === 'ENOTEMPTY') return false;
    if (code !== 'ENOENT') throw error;
  }
  return true;
}

async function killAll(folder: string): Promise<void> {
  for (const child of await childrenOf(folder)) await killAll(child);
  // A frozen process would not end when killed.
  await fs.writeFile(join(folder, 'freezer.state'), 'THAWED', { flag: 'r+' }).catch(() => undefined);
  const processes = await fs.readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '');
  for (const id of processes.split('\n').map(Number)) if (id > 0) kill(id);
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // The process has ended by itself.
  }
}

async function childrenOf(folder: string): Promise<string[]> {
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}
