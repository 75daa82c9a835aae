import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from './remove-tree.js';
import { unmountBelow } from './volumes/mounts.js';

/** Names of pods, containers and volumes are names of folders here. */
const plainName = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Whether a text is a single component of a path. */
export function isFolderName(text: string): boolean {
  return plainName.test(text) && text.length <= 255;
}

/** A single component of a path. @throws Error for any other text, so that no name leads out of the agent's folders */
export function folderName(text: string): string {
  if (!isFolderName(text)) throw new Error(`${JSON.stringify(text)} can't be a name of a folder`);
  return text;
}

/** The paths of the agent's files. */
export class PodFolders {
  constructor(
    private readonly root: string,
    private readonly logs: string,
  ) {}

  get pods(): string {
    return join(this.root, 'pods');
  }

  get seccomp(): string {
    return join(this.root, 'seccomp');
  }

  /** One empty file for each pod that was removed lately, so that a restarted agent knows of it, too. */
  get removed(): string {
    return join(this.root, 'removed-pods');
  }

  pod(uid: string): string {
    return join(this.pods, folderName(uid));
  }

  /** @param plugin a name from this program, not from a pod */
  volume(uid: string, plugin: string, name: string): string {
    return join(this.pod(uid), 'volumes', plugin, folderName(name));
  }

  hosts(uid: string): string {
    return join(this.pod(uid), 'etc-hosts');
  }

  /** The file that records the resources of the pod. */
  allocation(uid: string): string {
    return join(this.pod(uid), 'allocation.json');
  }

  container(uid: string, container: string): string {
    return join(this.pod(uid), 'containers', folderName(container));
  }

  subPaths(uid: string): string {
    return join(this.pod(uid), 'volume-subpaths');
  }

  subPath(uid: string, volume: string, container: string, index: number): string {
    return join(this.subPaths(uid), folderName(volume), folderName(container), String(index));
  }

  /** The folder in which the runtime writes the logs of a pod. */
  podLogs(namespace: string, name: string, uid: string): string {
    return join(this.logs, `${folderName(namespace)}_${folderName(name)}_${folderName(uid)}`);
  }

  async make(uid: string): Promise<void> {
    await fs.mkdir(join(this.pod(uid), 'volumes'), { recursive: true, mode: 0o750 });
    await fs.mkdir(join(this.pod(uid), 'containers'), { recursive: true, mode: 0o750 });
  }

  /** The pods that have files. Entries that can't be the folder of a pod belong to others. */
  async uids(): Promise<string[]> {
    const entries = await fs.readdir(this.pods, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory() && isFolderName(entry.name)).map(({ name }) => name);
  }

  /**
   * Removes all files of a pod, of which nothing may run any more, and notes that. Mounts below them are ended first;
   * nothing is removed while a mount remains.
   */
  async remove(uid: string): Promise<void> {
    const folder = this.pod(uid);
    await unmountBelow(folder);
    // Noted before the folder goes: without both, an agent that is killed now would never look for the pod again.
    // A full disk has no room for the note, and must become emptier all the same.
    await this.noteRemoved(uid).catch(() => undefined);
    await removeTree(folder);
  }

  private async noteRemoved(uid: string): Promise<void> {
    await fs.mkdir(this.removed, { recursive: true, mode: 0o750 });
    await fs.writeFile(join(this.removed, folderName(uid)), '');
  }

  /** The pods of which it is noted that they were removed. */
  async removedUids(): Promise<string[]> {
    return (await fs.readdir(this.removed).catch(() => [])).filter(isFolderName);
  }

  /** Removes the note about a removed pod. */
  async forgetRemoved(uid: string): Promise<void> {
    await fs.rm(join(this.removed, folderName(uid)), { force: true });
  }

  /** The pods that have a folder of logs. */
  async uidsOfLogs(): Promise<string[]> {
    const names = await fs.readdir(this.logs).catch(() => []);
    return names.map((name) => name.slice(name.lastIndexOf('_') + 1)).filter(isFolderName);
  }

  /** Removes the logs of a pod. Only its uid is needed: a restarted agent may know no more of the pod. */
  async removeLogs(uid: string): Promise<void> {
    const end = `_${folderName(uid)}`;
    for (const entry of await fs.readdir(this.logs).catch(() => [])) {
      if (entry.endsWith(end)) await removeTree(join(this.logs, entry));
    }
  }
}
