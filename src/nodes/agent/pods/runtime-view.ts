import type { Timers } from '../../../base/machinery/timers.js';
import { type Container, type ContainerStatus, containerStates } from '../cri/container-messages.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { wasStartCutOff } from '../cri/cut-off-start.js';
import { runtimeLabels } from '../cri/labels.js';
import type { Sandbox, SandboxStatus } from '../cri/sandbox-messages.js';
import { emptyRuntimePod, type RuntimeContainer, type RuntimePod } from './runtime-pod.js';

interface Listed {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly sandboxes: Sandbox[];
  readonly containers: Container[];
  /** A value that changes with every change that lists show. */
  print: string;
}

/**
 * The sandboxes are listed at this interval, and whenever a container has changed: what changes a sandbox mostly changes a container,
 * and whoever makes or removes one reads it again.
 */
const sandboxesMs = 4_000;

/**
 * The sandboxes and containers of all pods in the runtime. Those without the labels of a pod belong to other programs
 * and are left out. `relist` finds the pods that have changed; details are read on demand.
 */
export class RuntimeView {
  private listed = new Map<string, Listed>();
  /** What the last lists had, which mostly is what they had before: entries that are the same are the same objects. */
  private entries: ReadonlySet<object> = new Set();
  private containers: ReadonlySet<Container> = new Set();
  private readonly details = new Map<string, { readonly print: string; readonly pod: RuntimePod }>();
  private sandboxesAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly runtime: ContainerRuntime,
    private readonly timers: Pick<Timers, 'elapsed'>,
  ) {}

  /** Lists the runtime. Returns the uids of the pods that have changed. */
  async relist(): Promise<string[]> {
    const containers = await this.runtime.listContainers();
    const isSame = containers.length === this.containers.size && containers.every((each) => this.containers.has(each));
    const now = this.timers.elapsed();
    if (isSame && now < this.sandboxesAt + sandboxesMs) return [];
    const sandboxes = await this.runtime.listSandboxes();
    this.sandboxesAt = now;
    const all = [...sandboxes, ...containers];
    if (all.length === this.entries.size && all.every((entry) => this.entries.has(entry))) return [];
    this.entries = new Set(all);
    this.containers = new Set(containers);
    const before = this.listed;
    const found = byPod(sandboxes, containers);
    this.listed = found;
    for (const uid of this.details.keys()) if (!found.has(uid)) this.details.delete(uid);
    const uids = new Set([...before.keys(), ...found.keys()]);
    return [...uids].filter((uid) => before.get(uid)?.print !== found.get(uid)?.print);
  }

  /** The pods of the last lists. */
  pods(): readonly { readonly uid: string; readonly namespace: string; readonly name: string }[] {
    return [...this.listed.values()];
  }

  /** Reads the present details of one pod from the runtime. */
  async read(uid: string, namespace = '', name = ''): Promise<RuntimePod> {
    const [sandboxes, containers] = await Promise.all([
      this.runtime.listSandboxes(uid),
      this.runtime.listContainers(uid),
    ]);
    const listed = byPod(sandboxes, containers).get(uid);
    if (listed === undefined) return emptyRuntimePod(uid, namespace, name);
    const known = this.details.get(uid);
    if (known?.print === listed.print) return known.pod;
    const { pod, isAsListed } = await this.readDetails(listed);
    // If the runtime contradicts itself, it is asked again the next time.
    if (isAsListed) this.details.set(uid, { print: listed.print, pod });
    else this.details.delete(uid);
    return pod;
  }

  /**
   * The details of one pod as of the last lists. Asks the runtime only for a pod that has changed since its details were read, so what
   * no list shows, such as resources, may be out of date.
   */
  async latest(uid: string, namespace = '', name = ''): Promise<RuntimePod> {
    const known = this.details.get(uid);
    if (known !== undefined && known.print === this.listed.get(uid)?.print) return known.pod;
    return this.read(uid, namespace, name);
  }

  /** The details of a pod, and whether they have the states of the lists. */
  private async readDetails(listed: Listed): Promise<{ readonly pod: RuntimePod; readonly isAsListed: boolean }> {
    const { uid, namespace, name } = listed;
    let isAsListed = true;
    const compare = (entry: { readonly state: number }, status: { readonly state: number } | undefined) => {
      if (status?.state !== entry.state) isAsListed = false;
    };
    const sandboxes = await Promise.all(
      listed.sandboxes.map(async (entry) => {
        const status = await this.runtime.sandboxStatus(entry.id);
        compare(entry, status);
        return status;
      }),
    );
    const containers = await Promise.all(
      listed.containers.map(async (entry): Promise<RuntimeContainer | undefined> => {
        const status = await this.runtime.containerStatus(entry.id);
        compare(entry, status);
        return status === undefined ? undefined : { ...status, state: stateOf(status), sandboxId: entry.podSandboxId };
      }),
    );
    const pod: RuntimePod = {
      uid,
      namespace,
      name,
      sandboxes: sandboxes.filter((each): each is SandboxStatus => each !== undefined).sort(newestFirst),
      containers: containers.filter((each): each is RuntimeContainer => each !== undefined).sort(newestFirst),
    };
    return { pod, isAsListed };
  }
}

/** A container whose start was cut off has not run, whatever the runtime calls it: it is one that waits for its start. */
function stateOf(status: ContainerStatus): number {
  return wasStartCutOff(status) ? containerStates.created : status.state;
}

function byPod(sandboxes: readonly Sandbox[], containers: readonly Container[]): Map<string, Listed> {
  const found = new Map<string, Listed>();
  const of = (labels: Readonly<Record<string, string>>): Listed | undefined => {
    const uid = labels[runtimeLabels.podUid];
    if (uid === undefined) return undefined;
    let listed = found.get(uid);
    if (listed === undefined) {
      const namespace = labels[runtimeLabels.podNamespace] ?? '';
      listed = { uid, namespace, name: labels[runtimeLabels.podName] ?? '', sandboxes: [], containers: [], print: '' };
      found.set(uid, listed);
    }
    return listed;
  };
  for (const sandbox of sandboxes) of(sandbox.labels)?.sandboxes.push(sandbox);
  for (const container of containers) of(container.labels)?.containers.push(container);
  for (const listed of found.values()) listed.print = printOf(listed);
  return found;
}

function newestFirst(a: { readonly createdAt: number }, b: { readonly createdAt: number }): number {
  return b.createdAt - a.createdAt;
}

function printOf({ sandboxes, containers }: Listed): string {
  return [...sandboxes, ...containers]
    .map(({ id, state }) => `${id}:${state}`)
    .sort()
    .join(' ');
}
