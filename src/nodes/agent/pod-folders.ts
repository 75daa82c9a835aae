import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { unmountBelow } from './volumes/mounts.js';

/** Names of pods, containers and volumes are names of folders here. */
const plainName = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Whether a text can be a part of a path. */
export function isFolderName(text: string): boolean {
  return plainName.test(text) && text.length <= 255;
}

/** A part of a path. @throws Error for a text that is none, so that nobody gets out of the agent's folders by a name */
export function folderName(text: string): string {
  if (!isFolderName(text)) throw new Error(`${JSON.stringify(text)} can't be a name of a folder`);
  return text;
}

/** Where the agent keeps the files of pods. */
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

  pod(uid: string): string {
    return join(this.pods, folderName(uid));
  }

  /** @param plugin a name of ours, not of a pod */
  volume(uid: string, plugin: string, name: string): string {
    return join(this.pod(uid), 'volumes', plugin, folderName(name));
  }

  hosts(uid: string): string {
    return join(this.pod(uid), 'etc-hosts');
  }

  /** File with the resources that the pod has. */
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

  /** Where the runtime writes the logs of a pod. */
  podLogs(namespace: string, name: string, uid: string): string {
    return join(this.logs, `${folderName(namespace)}_${folderName(name)}_${folderName(uid)}`);
  }

  async make(uid: string): Promise<void> {
    await fs.mkdir(join(this.pod(uid), 'volumes'), { recursive: true, mode: 0o750 });
    await fs.mkdir(join(this.pod(uid), 'containers'), { recursive: true, mode: 0o750 });
  }

  /** The pods that have files. What can't be the folder of a pod is somebody else's. */
  async uids(): Promise<string[]> {
    const entries = await fs.readdir(this.pods, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory() && isFolderName(entry.name)).map(({ name }) => name);
  }

  /**
   * Removes all files of a pod, of which nothing may run any more. What is mounted there ends first; while something is
   * mounted, nothing is removed.
   */
  async remove(uid: string): Promise<void> {
    const folder = this.pod(uid);
    await unmountBelow(folder);
    await fs.rm(folder, { recursive: true, force: true });
  }

  /** Removes the logs of a pod. Only its uid is needed: an agent that starts again may know no more of a pod. */
  async removeLogs(uid: string): Promise<void> {
    const end = `_${folderName(uid)}`;
    for (const entry of await fs.readdir(this.logs).catch(() => [])) {
      if (entry.endsWith(end)) await fs.rm(join(this.logs, entry), { recursive: true, force: true });
    }
  }
}
