// Measures what an agent with idle pods needs: memory and processor time, as the kernel counts them, after it has come to rest. As root, where
// containerd is installed. PLINTH_TEST_KUBELET names the program of another agent, which is measured in the same way after ours.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually, freePort, TestCluster } from '../e2e/support/test-cluster.js';
import { cgroupHierarchies } from '../support/cgroups.js';
import { mainFile } from '../support/main-file.js';
import { busyboxImage, TestContainerd } from '../support/test-containerd.js';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '30' },
    rest: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '60' },
  },
});
const podCount = Number(values.pods);
const mostMiB = 80;
const mostShare = 0.01;
const ticksPerSecond = 100;

interface Need {
  readonly residentMiB: number;
  /** What the process shares with no other one. */
  readonly ownMiB: number;
  /** Processor time per time, of one core. */
  readonly share: number;
}

async function memoryOf(pid: number): Promise<Pick<Need, 'residentMiB' | 'ownMiB'>> {
  const text = await fs.readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
  return { residentMiB: kib('Rss') / 1024, ownMiB: (kib('Private_Clean') + kib('Private_Dirty')) / 1024 };
}

async function processorSeconds(pid: number): Promise<number> {
  const fields = (await fs.readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

async function needOf(pid: number): Promise<Need> {
  await delay(Number(values.rest) * 1000);
  const [before, began] = [await processorSeconds(pid), performance.now()];
  await delay(Number(values.seconds) * 1000);
  const share = (await processorSeconds(pid)) - before;
  return { ...(await memoryOf(pid)), share: share / ((performance.now() - began) / 1000) };
}

interface Place {
  readonly nodeName: string;
  readonly containerd: TestContainerd;
  readonly cluster: TestCluster;
  readonly port: number;
}

function ours({ nodeName, containerd, cluster, port }: Place): ChildProcess {
  const flags = [
    ...['--compat=kubernetes', `--kubeconfig=${cluster.first.kubeconfig}`, `--hostname-override=${nodeName}`],
    ...[
      '--node-ip=127.0.0.1',
      `--container-runtime-endpoint=${containerd.endpoint}`,
      `--cgroup-root=/${containerd.cgroupRoot}`,
    ],
    ...[`--root-dir=${join(containerd.folder, 'agent')}`, `--pod-logs-dir=${join(containerd.folder, 'logs')}`],
    ...['--fail-swap-on=false', '--eviction-hard=memory.available<0%', '--address=127.0.0.1', `--port=${port}`],
    ...['--healthz-port=0', '--kube-api-qps=200', '--kube-api-burst=400'],
  ];
  return spawn(process.execPath, [mainFile, 'node', ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
}

async function upstream(program: string, place: Place): Promise<ChildProcess> {
  const { nodeName, containerd, cluster, port } = place;
  const config = {
    ...{ kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1', port, address: '127.0.0.1' },
    ...{
      healthzPort: 0,
      failSwapOn: false,
      failCgroupV1: false,
      cgroupDriver: 'cgroupfs',
      cgroupRoot: `/${containerd.cgroupRoot}`,
    },
    containerRuntimeEndpoint: containerd.endpoint,
    podLogsDir: join(containerd.folder, 'logs'),
    evictionHard: { 'memory.available': '1Mi' },
    ...{
      enforceNodeAllocatable: ['none'],
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    },
    authorization: { mode: 'AlwaysAllow' },
  };
  const file = join(containerd.folder, 'kubelet.json');
  await fs.writeFile(file, JSON.stringify(config));
  const flags = [
    ...[`--config=${file}`, `--kubeconfig=${cluster.first.kubeconfig}`, `--hostname-override=${nodeName}`],
    ...['--node-ip=127.0.0.1', `--root-dir=${join(containerd.folder, 'agent')}`],
    `--cert-dir=${join(containerd.folder, 'certificates')}`,
  ];
  return spawn(program, flags, { stdio: ['ignore', 'ignore', 'ignore'] });
}

async function measure(nodeName: string, start: (place: Place) => ChildProcess | Promise<ChildProcess>): Promise<Need> {
  const containerd = await TestContainerd.start();
  const shared = ['--compat=kubernetes', '--authorization-mode=Node,RBAC'];
  const cluster = await TestCluster.start({ servers: 1, flags: shared, controllers: true, controllerFlags: shared });
  let child: ChildProcess | undefined;
  try {
    for (const root of await cgroupHierarchies())
      await fs.mkdir(join(root, containerd.cgroupRoot), { recursive: true }).catch(() => undefined);
    child = await start({ nodeName, containerd, cluster, port: await freePort() });
    const { client } = cluster.first;
    const pods = '/api/v1/namespaces/default/pods';
    for (let i = 0; i < podCount; i++) {
      const container = { name: 'c', image: busyboxImage, command: ['/bin/sleep', '1000000'] };
      const spec = {
        nodeName,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [container],
      };
      await client.post(pods, { metadata: { name: `pod-${i}` }, spec });
    }
    const areRunning = async () => {
      const { items } = (await client.get(pods)).body;
      return (
        items.filter(({ status }: { status: { phase: string } }) => status.phase === 'Running').length === podCount
      );
    };
    await eventually(areRunning, `${podCount} pods run`, 180_000);
    return await needOf(child.pid as number);
  } finally {
    if (child !== undefined && child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await cluster.stop();
    await containerd.stop();
  }
}

function say(name: string, { residentMiB, ownMiB, share }: Need): void {
  const memory = `${residentMiB.toFixed(1)} MiB resident, of which ${ownMiB.toFixed(1)} MiB are its own`;
  console.log(`${name} with ${podCount} idle pods: ${memory}; ${(100 * share).toFixed(2)} % of a core`);
}

const need = await measure('idle', ours);
say('plinth node', need);
const other = process.env.PLINTH_TEST_KUBELET;
if (other !== undefined) say(other, await measure('idle-other', (place) => upstream(other, place)));
process.exitCode = need.residentMiB < mostMiB && need.share < mostShare ? 0 : 1;
