import type { Logger } from '../../../base/observability/logger.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { type CsiSource, csiUniqueName } from '../../../objects/apis/storage/csi-names.js';
import type { ApiUser } from '../../connection/api-connection.js';
import type { CsiFolders, KeptVolume } from './csi-folders.js';

export interface VolumesInUseDependencies {
  readonly api: ApiUser;
  readonly nodeName: string;
  /** Prefix of the volume names in the status of nodes. */
  readonly labelPrefix: string;
  readonly folders: CsiFolders;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * The attached volumes that this node uses, as its status lists them: none of these is detached. A volume is in use
 * from before its preparation until no trace of it is left on the machine.
 */
export class VolumesInUse {
  private readonly claimed = new Map<string, Set<string>>();
  private kept: readonly string[] = [];
  private reported = '';
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly dependencies: VolumesInUseDependencies) {}

  get names(): readonly string[] {
    return [...new Set([...this.kept, ...[...this.claimed.values()].flatMap((names) => [...names])])].sort();
  }

  /** Finds the volumes that an earlier agent left on the machine. */
  async read(): Promise<void> {
    const { folders } = this.dependencies;
    const all = [...(await folders.ofPods()), ...(await folders.staged())];
    this.kept = all
      .filter(isAttached)
      .map(({ data }) => this.nameOf({ driver: data.driverName, handle: data.volumeHandle }));
  }

  /** A pod needs the volume. Resolves when the API has recorded that. */
  async claim(uid: string, source: CsiSource): Promise<void> {
    const names = this.claimed.get(uid) ?? new Set();
    this.claimed.set(uid, names.add(this.nameOf(source)));
    await this.report();
  }

  /** A pod needs no volumes any more; looks for the remains of its volumes. */
  async release(uid: string): Promise<void> {
    this.claimed.delete(uid);
    await this.refresh();
  }

  /** A part of a volume was removed. */
  async refresh(): Promise<void> {
    // If this fails, the next round of the node's status makes up for it.
    await this.report(true).catch((error: unknown) => {
      this.dependencies.logger.debug('the volumes in use could not be reported yet', { error });
    });
  }

  nameOf(source: CsiSource): string {
    return csiUniqueName(source, this.dependencies.labelPrefix);
  }

  /** The Node object from the API, which may have been deleted and created again. */
  seen({ status }: Node): void {
    this.reported = [...(status?.volumesInUse ?? [])].sort().join();
    if (this.reported !== this.names.join()) void this.refresh();
  }

  /**
   * One report at a time, so that the newest one is the last to be written. The search for volumes on the machine is
   * part of it: a slow search must not replace what a later one has found.
   */
  private report(mustRead = false): Promise<void> {
    const turn = this.last.then(async () => {
      if (mustRead) await this.read();
      await this.send();
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async send(): Promise<void> {
    const { names } = this;
    if (names.join() === this.reported) return;
    const { api, nodeName, signal } = this.dependencies;
    const contentType = 'application/strategic-merge-patch+json';
    const body = { status: { volumesInUse: names.length === 0 ? null : names } };
    await api.send('PATCH', `/api/v1/nodes/${nodeName}/status`, { body, contentType, rank: 'urgent', signal });
    this.reported = names.join();
  }
}

/** Volumes that need no attachment are stored without the name of one. */
function isAttached({ data }: KeptVolume): boolean {
  return Boolean(data.attachmentID);
}
