import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from '../../../base/machinery/startup-error.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { podQosClass } from '../../../objects/apis/core/v1/pod-qos.js';
import { folderName } from '../pod-folders.js';
import { podUid } from '../pods/pod-form.js';
import { removeCgroup } from './remove-cgroup.js';
import { cpuQuota, cpuShares, podAmounts } from './resources.js';

/** Quality-of-service classes that have a cgroup of their own below the cgroup of all pods. */
const classes = ['burstable', 'besteffort'] as const;

/** Names of pod cgroups begin with this. */
const podPrefix = 'pod';
/** The mount point of the version 2 hierarchy on machines that have both versions. */
const unifiedName = 'unified';

/** The cgroup of a pod: `/kubepods/burstable/pod<uid>`. Guaranteed pods have no class level. */
export function podCgroup(pod: Pod, podsCgroup: string): string {
  const qosClass = podQosClass(pod.spec).toLowerCase();
  const parent = qosClass === 'guaranteed' ? podsCgroup : join(podsCgroup, qosClass);
  return join(parent, `${podPrefix}${folderName(podUid(pod))}`);
}

/** The kernel's cgroups, in version 1 or 2. */
export class Cgroups {
  private constructor(
    private readonly mountPoint: string,
    /** Controllers with hierarchies of their own (version 1); empty if there is one common hierarchy (version 2). */
    private readonly hierarchies: readonly string[],
    /** Whether there is a version 2 hierarchy beside the version 1 ones; runtimes make cgroups in it too. */
    private readonly isHybrid = false,
  ) {}

  /** @throws StartupError where the kernel shows no cgroups */
  static async find(mountPoint = '/sys/fs/cgroup'): Promise<Cgroups> {
    const isUnified = await exists(join(mountPoint, 'cgroup.controllers'));
    if (isUnified) return new Cgroups(mountPoint, []);
    const entries = await fs.readdir(mountPoint, { withFileTypes: true }).catch(() => []);
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    // Systemd leaves an empty folder such as `cpu,cpuacct` behind where it could not mount a hierarchy.
    const areThere = await Promise.all(folders.map((name) => exists(join(mountPoint, name, 'cgroup.procs'))));
    const names = folders.filter((_name, index) => areThere[index]);
    const hierarchies = names.filter((name) => name !== unifiedName);
    // In the folder of a kernel without them, Node would try forever to make one.
    if (hierarchies.length === 0) {
      throw new StartupError(`there are no cgroups in ${mountPoint}, which containers need: mount them there`);
    }
    return new Cgroups(mountPoint, hierarchies, names.includes(unifiedName));
  }

  get isUnified(): boolean {
    return this.hierarchies.length === 0;
  }

  /** Makes the cgroups of all pods and of the classes of service. */
  async prepare(podsCgroup: string): Promise<void> {
    await this.make(podsCgroup);
    for (const name of classes) await this.make(join(podsCgroup, name));
    await this.set(join(podsCgroup, 'besteffort'), 'cpu', 'cpu.shares', '2');
  }

  /** Makes the cgroup of a pod with its limits, or sets them again. */
  async makePod(pod: Pod, podsCgroup: string, periodMs: number, amounts = podAmounts(pod)): Promise<void> {
    const path = podCgroup(pod, podsCgroup);
    await this.make(path);
    const { cpuRequestMilli, cpuLimitMilli, memoryLimit } = amounts;
    const period = periodMs * 1000;
    const shares = cpuShares(cpuRequestMilli);
    if (this.isUnified) {
      await this.set(path, 'cpu', 'cpu.weight', String(weightOf(shares)));
      const quota = cpuLimitMilli === undefined ? 'max' : String(cpuQuota(cpuLimitMilli, period));
      await this.set(path, 'cpu', 'cpu.max', `${quota} ${period}`);
      await this.set(path, 'memory', 'memory.max', memoryLimit === undefined ? 'max' : String(memoryLimit));
      return;
    }
    await this.set(path, 'cpu', 'cpu.shares', String(shares));
    if (cpuLimitMilli !== undefined) {
      await this.set(path, 'cpu', 'cpu.cfs_period_us', String(period));
      await this.set(path, 'cpu', 'cpu.cfs_quota_us', String(cpuQuota(cpuLimitMilli, period)));
    }
    if (memoryLimit !== undefined) await this.set(path, 'memory', 'memory.limit_in_bytes', String(memoryLimit));
  }

  /**
   * Removes the cgroup of a pod whose containers the runtime has removed, whatever class the pod had before. Kills the
   * processes that are still in it: a runtime that was killed may have started a container that it does not know of.
   *
   * @throws Error when a process does not end
   */
  async removePod(uid: string, podsCgroup: string): Promise<void> {
    for (const parent of this.parents(podsCgroup)) await removeCgroup(join(parent, `${podPrefix}${folderName(uid)}`));
  }

  /** The uids of the pods that have a cgroup. */
  async podUids(podsCgroup: string): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const parent of this.parents(podsCgroup)) {
      for (const name of await fs.readdir(parent).catch(() => [])) {
        if (name.startsWith(podPrefix)) found.add(name.slice(podPrefix.length));
      }
    }
    return found;
  }

  /** Every folder that may have cgroups of pods. */
  private parents(podsCgroup: string): string[] {
    const roots = this.isHybrid ? [...this.roots(), join(this.mountPoint, unifiedName)] : this.roots();
    const paths = [podsCgroup, ...classes.map((each) => join(podsCgroup, each))];
    return paths.flatMap((path) => roots.map((root) => join(root, path)));
  }

  private roots(): string[] {
    return this.isUnified ? [this.mountPoint] : this.hierarchies.map((name) => join(this.mountPoint, name));
  }

  private async make(path: string): Promise<void> {
    for (const root of this.roots()) {
      const whole = join(root, path);
      if (await exists(whole)) continue;
      await fs.mkdir(whole, { recursive: true });
      if (this.isUnified) await enableControllers(this.mountPoint, path);
      else if (root.endsWith('/cpuset')) await inheritCpuset(root, path);
    }
  }

  private async set(path: string, controller: string, file: string, value: string): Promise<void> {
    const root = this.isUnified ? this.mountPoint : join(this.mountPoint, controller);
    // Without the controller the kernel can't limit anything; runtimes accept that as well.
    await fs.writeFile(join(root, path, file), value).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** The version 2 weight that corresponds to version 1 shares. */
export function weightOf(shares: number): number {
  return Math.floor(1 + ((shares - 2) * 9999) / 262_142);
}

async function enableControllers(mountPoint: string, path: string): Promise<void> {
  let folder = mountPoint;
  for (const part of ['', ...path.split('/').filter(Boolean).slice(0, -1)]) {
    folder = join(folder, part);
    for (const controller of ['cpu', 'memory', 'pids', 'cpuset', 'hugetlb']) {
      await fs.writeFile(join(folder, 'cgroup.subtree_control'), `+${controller}`).catch(() => undefined);
    }
  }
}

/** A new cpuset has no processors and no memory, and accepts no processes until it gets both. */
async function inheritCpuset(root: string, path: string): Promise<void> {
  let parent = root;
  for (const part of path.split('/').filter(Boolean)) {
    const folder = join(parent, part);
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const own = (await fs.readFile(join(folder, file), 'utf8').catch(() => 'x')).trim();
      if (own !== '') continue;
      await fs.writeFile(join(folder, file), await fs.readFile(join(parent, file))).catch(() => undefined);
    }
    parent = folder;
  }
}

async function exists(path: string): Promise<boolean> {
  return fs.access(path).then(
    () => true,
    () => false,
  );
}
