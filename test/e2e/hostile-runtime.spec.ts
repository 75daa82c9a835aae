import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  containerStates,
  containerStatusResponse,
  listContainersResponse,
} from '../../src/nodes/agent/cri/container-messages.js';
import { listSandboxesResponse } from '../../src/nodes/agent/cri/sandbox-messages.js';
import { unlessThere } from '../support/needs.js';
import { type RuntimeBehaviour, RuntimeProxy } from '../support/runtime-proxy.js';
import { busyboxImage, containerdNeeds, TestContainerd } from '../support/test-containerd.js';
import { AgentProcess } from './support/agent-process.js';
import type { ApiClient } from './support/api-client.js';
import { eventually, freePort, TestCluster } from './support/test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';
const nodeName = 'lied-to';
const isList = (method: string) => method === 'ListContainers' || method === 'ListPodSandbox';
const isOne = (method: string) => method === 'ContainerStatus' || method === 'PodSandboxStatus';

describe('an agent whose runtime answers nonsense', {
  skip: unlessThere('the node agent', containerdNeeds),
  timeout: 600_000,
}, () => {
  let containerd: TestContainerd;
  let runtime: RuntimeProxy;
  let cluster: TestCluster;
  let admin: ApiClient;
  let agent: AgentProcess;
  let health: string;
  /** The container of the pod that runs from the beginning. */
  let steady: string;

  before(async () => {
    containerd = await TestContainerd.start();
    const { folder } = containerd;
    runtime = await RuntimeProxy.start(join(folder, 'proxy.sock'), containerd.endpoint);
    const shared = ['--compat=kubernetes', '--authorization-mode=Node,RBAC'];
    cluster = await TestCluster.start({ servers: 1, flags: shared, controllers: true, controllerFlags: shared });
    admin = cluster.first.client;
    const healthPort = await freePort();
    health = `http://127.0.0.1:${healthPort}/healthz`;
    agent = await AgentProcess.start([
      ...['--compat=kubernetes', `--kubeconfig=${cluster.first.kubeconfig}`, `--hostname-override=${nodeName}`],
      ...['--node-ip=127.0.0.1', `--container-runtime-endpoint=${runtime.endpoint}`],
      ...[`--root-dir=${join(folder, 'agent')}`, `--pod-logs-dir=${join(folder, 'logs')}`],
      ...[`--cgroup-root=/${containerd.cgroupRoot}`, '--fail-swap-on=false', '--eviction-hard=memory.available<0%'],
      ...['--address=127.0.0.1', `--port=${await freePort()}`, `--healthz-port=${healthPort}`],
      ...['--kube-api-qps=100', '--kube-api-burst=200', '--runtime-request-timeout=5s'],
    ]);
    await create('steady');
    steady = await running('steady');
  });
  after(async () => {
    runtime.behave = (_method, ask) => ask();
    await agent?.stop();
    await cluster?.stop();
    runtime?.stop();
    await containerd?.stop();
  });

  async function create(name: string): Promise<void> {
    const { status, text } = await admin.post(pods, {
      metadata: { name },
      spec: {
        ...{ nodeName, terminationGracePeriodSeconds: 1, automountServiceAccountToken: false },
        containers: [{ name: 'main', image: busyboxImage, command: ['/bin/sleep', '100000'] }],
      },
    });
    assert.equal(status, 201, text);
  }

  /** Waits until a pod runs, and returns the id of its container. */
  const running = (name: string) =>
    eventually(async () => {
      const { status } = (await admin.get(`${pods}/${name}`)).body;
      const [main] = status?.containerStatuses ?? [];
      return status?.phase === 'Running' && main?.state.running && main.containerID?.replace('containerd://', '');
    }, `${name} runs`);

  /** Lets the runtime answer so for some seconds, with a pod that begins and one that ends meanwhile. */
  async function under(behaviour: RuntimeBehaviour, name: string): Promise<void> {
    await create(`${name}-ends`);
    await running(`${name}-ends`);
    let asked = 0;
    runtime.behave = (method, ask) => {
      asked += 1;
      return behaviour(method, ask);
    };
    await create(`${name}-begins`);
    await admin.delete(`${pods}/${name}-ends`);
    await eventually(() => asked >= 4, 'the agent asks');
    // Some rounds of lists, and of attempts to begin and to end the pods.
    await delay(3_000);
    const { status } = await fetch(health, { signal: AbortSignal.timeout(30_000) });
    assert.equal(status, 200, name);
    assert.equal(agent.process.exitCode ?? agent.process.signalCode, null, agent.log());
    runtime.behave = (_method, ask) => ask();
    await running(`${name}-begins`);
    await eventually(async () => (await admin.get(`${pods}/${name}-ends`)).status === 404, `${name}-ends is gone`);
    await eventually(
      async () => (await containerd.containersOf(`${name}-ends`)).length === 0,
      'its containers are gone',
    );
  }

  /** The containers of a pod that run, beside its sandbox. */
  async function runningOf(name: string): Promise<number> {
    return (await containerd.runningPods()).filter((each) => each === name).length - 1;
  }

  async function staysAsItWas(): Promise<void> {
    assert.equal(await running('steady'), steady);
    const { status } = (await admin.get(`${pods}/steady`)).body;
    assert.equal(status.containerStatuses[0].restartCount, 0);
    assert.equal(await runningOf('steady'), 1);
  }

  it('goes on after random bytes', async () => {
    await under(async () => randomBytes(1 + (randomBytes(2).readUInt16BE() % 4096)), 'random');
    await staysAsItWas();
  });

  it('goes on after answers that are cut off', async () => {
    await under(async (_method, ask) => {
      const answer = await ask();
      return answer.subarray(0, Math.floor(answer.length * 0.9));
    }, 'cut');
    await staysAsItWas();
  });

  it('goes on after refusals with long and strange words', async () => {
    await under(async () => {
      throw { code: 13, details: `\u{1F4A5}\r\n${'<no>'.repeat(1000)}` };
    }, 'refused');
    await staysAsItWas();
  });

  it('goes on after silence', async () => {
    await under(() => delay(60_000, Buffer.alloc(0), { ref: false }), 'silent');
    await staysAsItWas();
  });

  it('goes on after answers that are too large, or have too many entries', async () => {
    const large = Buffer.alloc(70 * 2 ** 20);
    await under(async () => large, 'large');
    await staysAsItWas();
    const many = listContainersResponse.encode({
      containers: Array.from({ length: 99_000 }, (_, i) => ({
        id: `${i}`.padStart(64, '0'),
        labels: { 'io.kubernetes.pod.uid': 'x'.repeat(300), 'io.kubernetes.pod.name': 'y'.repeat(200) },
      })),
    });
    await under(async (method, ask) => (isList(method) ? many : ask()), 'many');
    await staysAsItWas();
  });

  it('writes and removes nothing by names that lead elsewhere, and reports no values that nobody takes', async () => {
    const victim = join(containerd.folder, 'victim');
    await fs.mkdir(join(victim, 'volumes'), { recursive: true });
    const names = ['../../victim', '..', '.', '/etc', 'a/b', '', 'x'.repeat(5000), '\n', '__proto__'];
    const strange = names.flatMap((uid, i) =>
      names.map((name, j) => ({
        id: `${i}-${j}`.padStart(64, 'f'),
        ...{ podSandboxId: name, state: j, createdAt: 2 ** 62 },
        labels: { 'io.kubernetes.pod.uid': uid, 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': name },
      })),
    );
    await under(async (method, ask) => {
      const answer = await ask();
      if (method === 'ListContainers') {
        const { containers } = listContainersResponse.decode(answer);
        return listContainersResponse.encode({ containers: [...containers, ...strange] });
      }
      if (method === 'ListPodSandbox') {
        const { items } = listSandboxesResponse.decode(answer);
        return listSandboxesResponse.encode({ items: [...items, ...strange] });
      }
      if (method !== 'ContainerStatus') return answer;
      const { status } = containerStatusResponse.decode(answer);
      if (status?.labels['io.kubernetes.pod.name'] === 'steady') return answer;
      return containerStatusResponse.encode({
        status: {
          ...{
            ...status,
            state: containerStates.exited,
            exitCode: 2 ** 50,
            finishedAt: -(2 ** 62),
            startedAt: 2 ** 62,
          },
          ...{ message: 'm'.repeat(1_000_000), reason: 'r'.repeat(1_000_000), logPath: '../../../../etc/passwd' },
          ...{ resources: undefined, user: undefined },
        },
      });
    }, 'strange');
    await staysAsItWas();
    await eventually(async () => (await runningOf('strange-begins')) === 1, 'one container');
    assert.deepEqual(await fs.readdir(victim), ['volumes']);
  });

  it('needs no more memory for large answers than they have', async () => {
    const status = await fs.readFile(`/proc/${agent.process.pid}/status`, 'utf8');
    const most = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    assert.ok(most < 600, `${most} MiB`);
  });

  it('has each container once after the runtime has denied that there are any', async () => {
    await under(async (method, ask) => (isList(method) || isOne(method) ? Buffer.alloc(0) : await ask()), 'denied');
    await running('steady');
    await eventually(async () => (await runningOf('steady')) === 1, 'one container');
  });
});
