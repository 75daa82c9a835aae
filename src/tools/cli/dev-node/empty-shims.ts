import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';

interface Found {
  readonly parent: number;
  readonly isShim: boolean;
}

/**
 * Ends the helper processes of a containerd that hold no container. A containerd that is killed in the moment in which it starts one
 * leaves it behind, and no later containerd takes it over.
 *
 * @param socket the path at which that containerd listens; it must have ended
 */
export async function endEmptyShims(socket: string): Promise<void> {
  const all = new Map<number, Found>();
  for (const id of (await readdir('/proc')).map(Number)) {
    const found = Number.isInteger(id) ? await look(id, socket) : undefined;
    if (found !== undefined) all.set(id, found);
  }
  const parents = new Set([...all.values()].map(({ parent }) => parent));
  for (const [id, { isShim }] of all) if (isShim && !parents.has(id)) end(id);
}

/** Undefined for a process that has ended meanwhile. */
async function look(id: number, socket: string): Promise<Found | undefined> {
  try {
    const words = (await readFile(`/proc/${id}/cmdline`, 'utf8')).split('\0');
    const state = (await readFile(`/proc/${id}/stat`, 'utf8')).split(') ').at(-1) ?? '';
    const isShim =
      basename(words[0] ?? '').startsWith('containerd-shim') && words[words.indexOf('-address') + 1] === socket;
    return { parent: Number(state.split(' ')[1]), isShim };
  } catch {
    return undefined;
  }
}

function end(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
