// Kills the agent of a node, its runtime and the API server while pods come and go, and checks that no container runs twice,
// that no container, cgroup or process of them is left behind, and that every status is right at the end. Flags change how many of each; `--help` lists them.
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { containerStates } from '../../src/nodes/agent/cri/container-messages.js';
import { CriRuntime } from '../../src/nodes/agent/cri/cri-runtime.js';
import { runtimeLabels } from '../../src/nodes/agent/cri/labels.js';
import { sandboxReady } from '../../src/nodes/agent/cri/sandbox-messages.js';
import { MachineNetworks } from '../../src/nodes/agent/network/machine-networks.js';
import { AgentProcess } from '../e2e/support/agent-process.js';
import { eventually, freePort, TestCluster } from '../e2e/support/test-cluster.js';
import { cgroupHierarchies } from '../support/cgroups.js';
import { Random } from '../support/random.js';
import { busyboxImage, TestContainerd } from '../support/test-containerd.js';

const usualSizes = { pods: 200, 'at-once': 25, 'agent-kills': 50, 'runtime-kills': 10, 'server-kills': 10 };
const numbers = { ...usualSizes, seed: Date.now() % 100_000 };
const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    ...Object.fromEntries(Object.keys(numbers).map((name) => [name, { type: 'string' } as const])),
  },
});
if (values.help) {
  console.log(
    Object.entries(numbers)
      .map(([name, usual]) => `--${name}=${usual}`)
      .join('\n'),
  );
  process.exit();
}

/** @throws Error for a flag that is not a whole number */
function size(name: keyof typeof numbers): number {
  const given = (values as Readonly<Record<string, unknown>>)[name] ?? numbers[name];
  if (!/^\d+$/.test(String(given))) throw new Error(`--${name} must be a whole number`);
  return Number(given);
}

/** Decides about the order and the times of the kills, and which pods are deleted when and how. */
const random = new Random(size('seed'));
const mostPods = size('pods');
/** Number of pods that exist at the same time. */
const atOnce = size('at-once');
const kills = [
  ...Array.from({ length: size('agent-kills') }, () => 'agent' as const),
  ...Array.from({ length: size('runtime-kills') }, () => 'runtime' as const),
  ...Array.from({ length: size('server-kills') }, () => 'server' as const),
];
const nodeName = 'killed';
const pods = '/api/v1/namespaces/default/pods';
const { podUid: uidLabel, containerName: nameLabel } = runtimeLabels;

interface Run {
  readonly id: string;
  readonly uid: string;
  /** Empty for the sandbox. */
  readonly name: string;
}

/** The containers and sandboxes that run now, according to the runtime. */
async function runningContainers({ endpoint }: TestContainerd): Promise<Run[]> {
  const runtime = await CriRuntime.open(endpoint, endpoint, 60_000);
  try {
    const containers = (await runtime.listContainers()).filter(({ state }) => state === containerStates.running);
    const sandboxes = (await runtime.listSandboxes()).filter(({ state }) => state === sandboxReady);
    return [
      ...containers.map(({ id, labels }) => ({ id, uid: labels[uidLabel] ?? '', name: labels[nameLabel] ?? '' })),
      ...sandboxes.map(({ id, labels }) => ({ id, uid: labels[uidLabel] ?? '', name: '' })),
    ];
  } finally {
    runtime.close();
  }
}

/** The existing cgroups of pods, in every hierarchy. */
async function podCgroups({ cgroupRoot }: TestContainerd): Promise<string[]> {
  const found: string[] = [];
  for (const root of await cgroupHierarchies()) {
    const below = await fs.readdir(join(root, cgroupRoot), { recursive: true }).catch(() => []);
    for (const path of below) if (/(^|\/)pod[^/]+$/.test(path)) found.push(join(root, cgroupRoot, path));
  }
  return found;
}

const script = (text: string) => ({ image: busyboxImage, command: ['/bin/sh', '-c', text] });
const lasting = 'trap "exit 0" TERM; while true; do sleep 0.3; done';

/** Pods of all kinds: long-running ones, tasks, failing ones, those with sidecars. */
function specOf(index: number): object {
  const base = { nodeName, terminationGracePeriodSeconds: 2, automountServiceAccountToken: false };
  switch (index % 5) {
    case 0:
      return {
        ...base,
        containers: [
          { name: 'a', ...script(lasting) },
          { name: 'b', ...script(lasting) },
        ],
      };
    case 1:
      return { ...base, restartPolicy: 'Never', containers: [{ name: 'a', ...script('sleep 3; exit 0') }] };
    case 2:
      return { ...base, restartPolicy: 'Never', containers: [{ name: 'a', ...script('sleep 2; exit 3') }] };
    case 3:
      return { ...base, containers: [{ name: 'a', ...script(`sleep ${5 + (index % 20)}; exit 1`) }] };
    default:
      return {
        ...base,
        initContainers: [
          { name: 'side', restartPolicy: 'Always', ...script(lasting) },
          { name: 'first', ...script('sleep 1') },
        ],
        containers: [{ name: 'a', ...script(lasting) }],
      };
  }
}

/**
 * A container whose start was cut off in its last step may have run for a moment before the runtime has ended it. It must
 * not run again if its pod forbids that, so its pod has failed.
 */
const mayHaveRun = /StartError.*failed to start containerd task .*context canceled/;

class Scene {
  readonly problems: string[] = [];
  /** Pods that failed since their only start was cut off in its last step. */
  readonly cutOff = new Set<string>();
  private made = 0;
  private readonly live: string[] = [];

  private constructor(
    readonly containerd: TestContainerd,
    readonly cluster: TestCluster,
    private readonly flags: readonly string[],
    private agent: AgentProcess,
    readonly rootFolder: string,
    /** The network namespaces that were there before. */
    private readonly namespacesBefore: ReadonlySet<string>,
  ) {}

  static async start(): Promise<Scene> {
    const namespaces = new Set(await fs.readdir('/run/netns').catch(() => []));
    const containerd = await TestContainerd.start({ hasNetwork: false });
    const shared = ['--compat=kubernetes', '--authorization-mode=Node,RBAC'];
    const cluster = await TestCluster.start({
      ...{ servers: 1, flags: shared, controllers: true, controllerFlags: shared },
    }).catch(async (error: Error) => {
      await containerd.stop();
      throw error;
    });
    const rootFolder = join(containerd.folder, 'agent');
    const flags = [
      '--compat=kubernetes',
      `--kubeconfig=${cluster.first.kubeconfig}`,
      `--hostname-override=${nodeName}`,
      '--node-ip=127.0.0.1',
      `--container-runtime-endpoint=${containerd.endpoint}`,
      `--root-dir=${rootFolder}`,
      `--pod-logs-dir=${join(containerd.folder, 'logs')}`,
      `--cgroup-root=/${containerd.cgroupRoot}`,
      '--fail-swap-on=false',
      '--eviction-hard=memory.available<0%',
      '--address=127.0.0.1',
      `--port=${await freePort()}`,
      '--healthz-port=0',
      '--kube-api-qps=200',
      '--kube-api-burst=400',
      '--max-pods=250',
      ...containerd.networkFlags,
      '--log-level=debug',
    ];
    return new Scene(containerd, cluster, flags, await AgentProcess.start(flags), rootFolder, namespaces);
  }

  get admin() {
    return this.cluster.first.client;
  }

  /** Makes pods up to the wanted number, and now and then deletes one, gently or not. */
  async churn(): Promise<void> {
    for (; this.live.length < atOnce && this.made < mostPods; this.made++) {
      const name = `pod-${this.made}`;
      const answer = await this.admin
        .post(pods, { metadata: { name, labels: { kind: String(this.made % 5) } }, spec: specOf(this.made) })
        .catch(() => undefined);
      if (answer?.status !== 201 && answer?.status !== 409) return;
      this.live.push(name);
    }
    for (let i = 0; i < 3 && this.live.length >= atOnce / 2; i++) {
      const name = this.live.splice(random.below(this.live.length), 1)[0] ?? '';
      const query = random.chance(0.3) ? '?gracePeriodSeconds=0' : '';
      const answer = await this.admin.delete(`${pods}/${name}${query}`).catch(() => undefined);
      if (answer === undefined || answer.status >= 500) this.live.push(name);
    }
  }

  async kill(what: 'agent' | 'runtime' | 'server'): Promise<void> {
    if (what === 'server') await this.cluster.restartServer(this.cluster.first, 'SIGKILL');
    else if (what === 'runtime') await this.containerd.restart();
    else {
      await this.agent.stop('SIGKILL');
      this.agent = await AgentProcess.start(this.flags);
    }
  }

  /** No container of a pod may run twice at any time. */
  async checkTwice(when: string): Promise<void> {
    const seen = new Map<string, string[]>();
    const look = () => runningContainers(this.containerd).catch(() => undefined);
    for (const { id, uid, name } of await eventually(look, 'the runtime answers')) {
      const key = `${uid} ${name}`;
      seen.set(key, [...(seen.get(key) ?? []), id]);
    }
    for (const [key, ids] of seen)
      if (ids.length > 1) this.problems.push(`${when}: ${key} runs as ${ids.join(' and ')}`);
  }

  /** The API's status of each pod agrees with the runtime, and pods that have ended did so as their script does. */
  async checkStatuses(): Promise<string[]> {
    const { items } = (await this.admin.get(pods)).body;
    const running = new Set(
      (await runningContainers(this.containerd)).filter(({ name }) => name !== '').map(({ id }) => id),
    );
    const wrong: string[] = [];
    for (const { metadata, status, spec } of items) {
      if (spec.nodeName !== nodeName) continue;
      const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
      for (const { name, state, containerID = '' } of statuses) {
        const id = containerID.replace('containerd://', '');
        if (state.running !== undefined && !running.delete(id)) wrong.push(`${metadata.name}/${name} does not run`);
      }
      const phases: Record<string, string> = { 0: 'Running', 1: 'Succeeded', 2: 'Failed', 3: 'Running', 4: 'Running' };
      const wanted = phases[metadata.labels.kind];
      if (status.phase === wanted) continue;
      const how = JSON.stringify(statuses.map(({ name, state, lastState }) => ({ name, state, lastState })));
      if (spec.restartPolicy === 'Never' && mayHaveRun.test(how)) this.cutOff.add(metadata.name);
      else wrong.push(`${metadata.name} is ${status.phase}, not ${wanted}: ${how}`);
    }
    for (const id of running) wrong.push(`container ${id} runs, and no status has it`);
    return wrong;
  }

  async checkNothingIsLeft(): Promise<void> {
    await this.admin.delete(`${pods}?gracePeriodSeconds=1`);
    const gone = async () => ((await this.admin.get(pods)).body.items as unknown[]).length === 0;
    await eventually(gone, 'all pods are gone', 180_000).catch(async (error: Error) => {
      this.problems.push(`${error.message}: ${(await this.describePods()).join('; ')}`);
      this.problems.push(`the agent logged: ${this.agent.log()}`);
    });
    const isEmpty = async () => (await this.containerd.containers()).length === 0;
    await eventually(isEmpty, 'all containers are gone', 120_000).catch((error: Error) =>
      this.problems.push(error.message),
    );
    const noCgroups = async () => (await podCgroups(this.containerd)).length === 0;
    await eventually(noCgroups, 'all cgroups of pods are gone', 60_000).catch(async (error: Error) =>
      this.problems.push(`${error.message}: ${(await podCgroups(this.containerd)).join(', ')}`),
    );
    await this.checkNoProcessIsLeft();
    const noFolders = async () => (await fs.readdir(join(this.rootFolder, 'pods'))).length === 0;
    await eventually(noFolders, 'all folders are gone', 60_000).catch((error: Error) =>
      this.problems.push(error.message),
    );
    const logs = () => fs.readdir(join(this.containerd.folder, 'logs'));
    await eventually(async () => (await logs()).length === 0, 'all logs are gone', 60_000).catch(async (error: Error) =>
      this.problems.push(`${error.message}: ${(await logs()).join(', ')}`),
    );
    const mounts = await fs.readFile('/proc/self/mountinfo', 'utf8');
    const left = mounts.split('\n').filter((line) => line.includes(` ${this.rootFolder}/`));
    if (left.length > 0) this.problems.push(`mounts are left: ${left.join(', ')}`);
    await this.checkNetworks();
  }

  /**
   * A runtime that is killed while it makes a sandbox does not know its network any more; the agent removes that after five minutes, and
   * after ten a namespace that was left empty, for which nobody waits here: {@link removeEmptyNamespaces}.
   */
  private async checkNetworks(): Promise<void> {
    const taken = async () => {
      const files = await fs.readdir('/var/lib/cni/networks/plinth').catch(() => []);
      return files.filter((address) => address.startsWith(this.containerd.addressPrefix));
    };
    const lost = await taken();
    if (lost.length > 0) console.log(`the runtime has lost ${lost.length} networks of pods`);
    await eventually(async () => (await taken()).length === 0, 'all addresses are free', 480_000).catch(
      async (error: Error) => this.problems.push(`${error.message}: ${(await taken()).join(', ')}`),
    );
  }

  /**
   * Removes the namespaces that no runtime knows: without a process for twenty seconds, and without an address of a pod. Those of other
   * runtimes of this machine are in use.
   */
  private async removeEmptyNamespaces(): Promise<void> {
    const networks = new MachineNetworks({ bridge: '', addressesFolder: '' });
    const made = (await networks.namespaces()).filter((name) => !this.namespacesBefore.has(name));
    let empty = await networks.unused(made);
    if (empty.length > 0) await delay(20_000);
    empty = await networks.unused(empty);
    for (const name of empty) {
      const addresses = (await networks.addresses(name)) ?? [];
      if (addresses.some((address) => !['127.0.0.1', '::1'].includes(address))) continue;
      await networks.removeNamespace(name);
      console.log(`the runtime has lost an empty network namespace: ${name}`);
    }
  }

  /**
   * The runtime's helpers have no processes of containers any more. Helpers without one may stay: a runtime that is killed
   * after it has started a helper, and before it has noted that, never finds it again, and nothing connects it with a pod.
   */
  private async checkNoProcessIsLeft(): Promise<void> {
    const held = async () => [...(await this.containerd.shims())].filter(([, processes]) => processes.length > 0);
    const isFree = async () => (await held()).length === 0;
    await eventually(isFree, 'all processes of containers are gone', 60_000).catch(async (error: Error) =>
      this.problems.push(`${error.message}: ${JSON.stringify(await held())}`),
    );
    const { size } = await this.containerd.shims();
    if (size > 0)
      console.log(`${size} helpers of the runtime are left that hold no process; it was killed as it made them`);
  }

  /** The existing pods with their containers, one line each. */
  private async describePods(): Promise<string[]> {
    const running = await runningContainers(this.containerd);
    return (await this.admin.get(pods)).body.items.map(
      // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
      ({ metadata, spec, status }: any) => {
        const own = running.filter(({ uid }) => uid === metadata.uid).map(({ name }) => name || 'sandbox');
        const place = spec.nodeName === nodeName ? '' : ' of another node';
        const since = `${metadata.deletionTimestamp} (${metadata.deletionGracePeriodSeconds} s)`;
        return `${metadata.name}${place} ${status.phase}, deleted at ${since}, runs ${own.join(' ') || 'nothing'}`;
      },
    );
  }

  async stop(): Promise<void> {
    await this.agent.stop();
    await this.cluster.stop();
    await this.containerd.stop();
    await this.removeEmptyNamespaces();
  }
}

async function main(): Promise<void> {
  const scene = await Scene.start();
  try {
    const order = kills.map((what) => ({ what, at: random.next() })).sort((a, b) => a.at - b.at);
    for (const [index, { what }] of order.entries()) {
      await scene.churn();
      await delay(500 + 3000 * random.next());
      await scene.kill(what);
      await scene.checkTwice(`after kill ${index + 1} (${what})`);
      console.log(`kill ${index + 1} of ${order.length} (${what}), ${scene.problems.length} problems`);
    }
    let wrong: string[] = [];
    await eventually(
      async () => {
        wrong = await scene.checkStatuses();
        return wrong.length === 0;
      },
      'right statuses',
      240_000,
    ).catch(() => scene.problems.push(...wrong));
    await scene.checkTwice('at the end');
    await scene.checkNothingIsLeft();
  } finally {
    await scene.stop();
  }
  if (scene.cutOff.size > 0) console.log(`failed, as they may have run: ${[...scene.cutOff].join(', ')}`);
  for (const problem of scene.problems) console.log(problem);
  console.log(
    `${kills.length} kills (--seed=${random.seed}): ${scene.problems.length === 0 ? 'no problem' : `${scene.problems.length} problems`}`,
  );
  process.exitCode = scene.problems.length === 0 ? 0 : 1;
}

await main();
