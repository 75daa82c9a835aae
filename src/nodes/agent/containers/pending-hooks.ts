import { promises as fs } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PodFolders } from '../pod-folders.js';
import { hasText } from './has-text.js';

/**
 * Which runs of containers still need their postStart hook, on the disk: an agent that is killed after it has started a
 * container, and before the hook has ended, must not forget the hook.
 */
export class PendingHooks {
  constructor(private readonly folders: Pick<PodFolders, 'container'>) {}

  /** @param id of the run, which has not started yet */
  async begin(podUid: string, container: string, id: string): Promise<void> {
    const path = this.path(podUid, container);
    await fs.mkdir(dirname(path), { recursive: true, mode: 0o750 });
    await fs.writeFile(path, id, { mode: 0o600 });
  }

  async end(podUid: string, container: string): Promise<void> {
    await fs.rm(this.path(podUid, container), { force: true });
  }

  isPending(podUid: string, container: string, id: string): Promise<boolean> {
    return hasText(this.path(podUid, container), id);
  }

  private path(podUid: string, container: string): string {
    return join(this.folders.container(podUid, container), 'post-start');
  }
}
