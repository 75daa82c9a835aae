import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { unlessThere } from '../support/needs.js';
import { TestIdentity } from '../support/test-authority.js';
import { busyboxImage, containerdNeeds, TestContainerd } from '../support/test-containerd.js';
import { AgentProcess } from './support/agent-process.js';
import type { AgentScene } from './support/agent-scene.js';
import type { ApiClient } from './support/api-client.js';
import { csiCases } from './support/csi-cases.js';
import { endCases } from './support/end-cases.js';
import { hookCases } from './support/hook-cases.js';
import { Kubectl } from './support/kubectl.js';
import { resizeCases } from './support/resize-cases.js';
import { eventually, freePort, TestCluster } from './support/test-cluster.js';
import { volumeCases } from './support/volume-cases.js';

const pods = '/api/v1/namespaces/default/pods';
const rights = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const nodeName = 'real-1';
const mirror = 'kubernetes.io/config.mirror';

describe('the node agent', { skip: unlessThere('the node agent', [...containerdNeeds, 'kubectl']) }, () => {
  let containerd: TestContainerd;
  let cluster: TestCluster;
  let admin: ApiClient;
  let agent: AgentProcess;
  let kubectl: Kubectl;
  let flags: string[];
  let agents: TestIdentity;
  let port: number;
  let manifests: string;
  let friend: TestIdentity;
  let scene: AgentScene;

  before(async () => {
    containerd = await TestContainerd.start();
    const folder = containerd.folder;
    agents = await TestIdentity.root('clients of agents');
    friend = await agents.issue({ subject: [{ O: ['system:masters'] }, { CN: ['friend'] }] });
    const server = await agents.issue({ subject: [{ O: ['system:masters'] }, { CN: ['server'] }] });
    await fs.writeFile(join(folder, 'agents.crt'), agents.cert);
    await fs.writeFile(join(folder, 'server.crt'), server.cert);
    await fs.writeFile(join(folder, 'server.key'), server.key);
    const shared = ['--compat=kubernetes', '--authorization-mode=Node,RBAC'];
    cluster = await TestCluster.start({
      servers: 1,
      flags: [
        ...shared,
        '--enable-bootstrap-token-auth',
        '--enable-admission-plugins=NodeRestriction',
        `--kubelet-client-certificate=${join(folder, 'server.crt')}`,
        `--kubelet-client-key=${join(folder, 'server.key')}`,
        '--kubelet-preferred-address-types=InternalIP',
        '--kubelet-timeout=20s',
      ],
      controllers: true,
      controllerFlags: shared,
    });
    admin = cluster.first.client;
    kubectl = new Kubectl(cluster.first.kubeconfig);
    await allowJoining();
    port = await freePort();
    manifests = join(folder, 'manifests');
    await fs.mkdir(manifests);
    await fs.writeFile(join(folder, 'bootstrap'), bootstrapConfig());
    flags = [
      '--compat=kubernetes',
      `--kubeconfig=${join(folder, 'kubeconfig')}`,
      `--bootstrap-kubeconfig=${join(folder, 'bootstrap')}`,
      `--cert-dir=${join(folder, 'certificates')}`,
      '--rotate-server-certificates',
      `--hostname-override=${nodeName}`,
      '--node-ip=127.0.0.1',
      `--container-runtime-endpoint=${containerd.endpoint}`,
      `--root-dir=${join(folder, 'agent')}`,
      `--pod-logs-dir=${join(folder, 'logs')}`,
      `--cgroup-root=/${containerd.cgroupRoot}`,
      '--fail-swap-on=false',
      '--eviction-hard=memory.available<0%',
      `--pod-manifest-path=${manifests}`,
      '--address=127.0.0.1',
      `--port=${port}`,
      `--healthz-port=${await freePort()}`,
      '--anonymous-auth=false',
      `--client-ca-file=${join(folder, 'agents.crt')}`,
      '--authorization-mode=Webhook',
      '--kube-api-qps=100',
      '--kube-api-burst=200',
      '--event-qps=100',
      '--event-burst=200',
    ];
    agent = await AgentProcess.start(flags);
    await eventually(async () => {
      const { body } = await admin.get(`/api/v1/nodes/${nodeName}`);
      return isTrue(body.status, 'Ready');
    }, 'the node is ready');
    await eventually(
      async () => (await admin.get('/api/v1/namespaces/default/serviceaccounts/default')).status === 200,
      'there is an account for pods',
    );
    scene = {
      ...{ admin, kubectl, nodeName, create, untilPod, shell },
      folder: join(folder, 'agent'),
      restartAgent: async () => {
        await agent.stop('SIGKILL');
        agent = await AgentProcess.start(flags);
      },
      askAgent: async (path) => (await ask(path, friend)).body,
    };
  });
  after(async () => {
    await agent?.stop();
    await cluster?.stop();
    await containerd?.stop();
  });

  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
  const isTrue = (status: any, type: string) =>
    status?.conditions?.some((each: { type: string; status: string }) => each.type === type && each.status === 'True');

  async function allowJoining(): Promise<void> {
    const rbac = { apiGroup: 'rbac.authorization.k8s.io' };
    for (const [role, group] of [
      ['system:node-bootstrapper', 'system:bootstrappers'],
      ['system:certificates.k8s.io:certificatesigningrequests:nodeclient', 'system:bootstrappers'],
    ] as const) {
      const { status, text: answer } = await admin.post(rights, {
        metadata: { name: `test:${role}` },
        roleRef: { ...rbac, kind: 'ClusterRole', name: role },
        subjects: [{ ...rbac, kind: 'Group', name: group }],
      });
      assert.equal(status, 201, answer);
    }
    const { status, text: answer } = await admin.post('/api/v1/namespaces/kube-system/secrets', {
      metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
      },
    });
    assert.equal(status, 201, answer);
  }

  function bootstrapConfig(): string {
    const authority = Buffer.from(cluster.pki.authority).toString('base64');
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: cluster.first.url, 'certificate-authority-data': authority } }],
      users: [{ name: 'u', user: { token: 'abcdef.0123456789abcdef' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    });
  }

  async function create(name: string, spec: object, metadata: object = {}): Promise<void> {
    const { status, text: answer } = await admin.post(pods, {
      metadata: { name, ...metadata },
      spec: { nodeName, terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, ...spec },
    });
    assert.equal(status, 201, answer);
  }

  /** Sends a request to the agent's server, with a certificate or without. */
  const ask = (path: string, who?: TestIdentity, headers: Record<string, string> = {}) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const identity = who === undefined ? {} : { cert: who.cert, key: who.key };
      const request = get(
        { host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false, headers, ...identity },
        (response) => void text(response).then((body) => resolve({ status: response.statusCode, body }), reject),
      );
      request.once('error', reject);
    });

  const shell = (script: string) => ({ image: busyboxImage, command: ['/bin/sh', '-c', script] });

  /** Waits until a pod is in the expected state. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
  const untilPod = (name: string, what: string, look: (status: any) => boolean) =>
    eventually(async () => {
      const { body } = await admin.get(`${pods}/${name}`);
      return body.status !== undefined && look(body.status) && body;
    }, what);

  it('gives a container its environment, files, limits and addresses, and reports how it runs', async () => {
    await admin.post('/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'map' },
      data: { key: 'from the map' },
    });
    await admin.post('/api/v1/namespaces/default/secrets', {
      metadata: { name: 'safe' },
      stringData: { word: 'hush' },
    });
    await create('whole', {
      initContainers: [{ name: 'first', ...shell('echo done > /shared/first') }].map((each) => ({
        ...each,
        volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
      })),
      containers: [
        {
          name: 'main',
          ...shell('echo "$(NAME) $KEY"; cat /shared/first /safe/word; id -u; hostname; sleep 1000'),
          env: [
            { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'KEY', valueFrom: { configMapKeyRef: { name: 'map', key: 'key' } } },
          ],
          resources: { requests: { cpu: '100m', memory: '16Mi' }, limits: { cpu: '200m', memory: '32Mi' } },
          securityContext: { runAsUser: 1000 },
          readinessProbe: { exec: { command: ['/bin/true'] }, periodSeconds: 1 },
          volumeMounts: [
            { name: 'shared', mountPath: '/shared' },
            { name: 'safe', mountPath: '/safe' },
          ],
        },
      ],
      volumes: [
        { name: 'shared', emptyDir: {} },
        { name: 'safe', secret: { secretName: 'safe', defaultMode: 0o444 } },
      ],
    });
    const { status, metadata } = await untilPod('whole', 'the pod is ready', (seen) => isTrue(seen, 'Ready'));
    assert.equal(status.phase, 'Running');
    assert.match(status.podIP, /^10\.203\./);
    const [main] = status.containerStatuses;
    assert.deepEqual([main.ready, main.started, main.restartCount, main.image], [true, true, 0, busyboxImage]);
    const [first] = status.initContainerStatuses;
    assert.deepEqual(
      [first.ready, first.state.terminated.reason, first.state.terminated.exitCode],
      [true, 'Completed', 0],
    );
    // The probe succeeds while the script still writes.
    const log = await eventually(() => {
      const seen = kubectl.ok(['logs', 'whole']);
      return seen.split('\n').length > 4 && seen;
    }, 'all lines of the script');
    assert.equal(log, 'whole from the map\ndone\nhush1000\nwhole\n');
    assert.equal(kubectl.ok(['logs', 'whole', '--tail=1']), 'whole\n');
    const found = kubectl.ok(['exec', 'whole', '--', 'cat', '/proc/1/cgroup']);
    assert.match(found, new RegExp(`${containerd.cgroupRoot}/kubepods/burstable/pod${metadata.uid}/`));
    const failed = kubectl.run(['exec', 'whole', '--', 'sh', '-c', 'exit 7']);
    assert.equal(failed.code, 7, failed.stderr);
  });

  it('restarts what fails, after a pause the second time, and tells why it ended', async () => {
    await create('failing', {
      containers: [
        { name: 'main', ...shell('echo broken > /dev/termination-log; exit 3'), terminationMessagePolicy: 'File' },
      ],
    });
    const { status } = await untilPod(
      'failing',
      'the container waits for its restart',
      (seen) => seen.containerStatuses?.[0].state.waiting?.reason === 'CrashLoopBackOff',
    );
    const [main] = status.containerStatuses;
    assert.equal(status.phase, 'Running');
    assert.ok(main.restartCount >= 1);
    const { exitCode, reason, message } = main.lastState.terminated;
    assert.deepEqual([exitCode, reason, message], [3, 'Error', 'broken\n']);
    assert.equal((await admin.delete(`${pods}/failing`)).status, 200);
  });

  it('says what is missing of an image, a map or a volume', async () => {
    await create('lost', {
      containers: [
        { name: 'image', image: 'plinth.test/none:1', imagePullPolicy: 'Never' },
        { name: 'name', image: 'Bad:::Name' },
        { name: 'map', ...shell('true'), envFrom: [{ configMapRef: { name: 'none' } }] },
      ],
    });
    const { status } = await untilPod('lost', 'all containers have a reason', (seen) =>
      seen.containerStatuses?.every(
        (each: { state: { waiting?: { reason: string } } }) =>
          !['ContainerCreating', 'PodInitializing'].includes(each.state.waiting?.reason ?? ''),
      ),
    );
    const reasons = status.containerStatuses.map(
      (each: { state: { waiting: { reason: string } } }) => each.state.waiting.reason,
    );
    assert.deepEqual(reasons, ['ErrImageNeverPull', 'InvalidImageName', 'CreateContainerConfigError']);
  });

  it('runs the hook before the end, and lets the pod go only when nothing runs any more', async () => {
    await create('gentle', {
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: 'main',
          ...shell('trap "exit 0" TERM; while true; do sleep 0.1; done'),
          lifecycle: { preStop: { exec: { command: ['/bin/sh', '-c', 'echo bye > /m/hook'] } } },
          volumeMounts: [{ name: 'm', mountPath: '/m' }],
        },
      ],
      volumes: [{ name: 'm', hostPath: { path: join(containerd.folder, 'hooks'), type: 'DirectoryOrCreate' } }],
    });
    const { metadata } = await untilPod('gentle', 'the pod runs', (seen) => seen.phase === 'Running');
    await admin.delete(`${pods}/gentle`);
    await eventually(async () => (await admin.get(`${pods}/gentle`)).status === 404, 'the pod is gone');
    assert.equal(await fs.readFile(join(containerd.folder, 'hooks', 'hook'), 'utf8'), 'bye\n');
    await eventually(
      () =>
        fs.stat(join(containerd.folder, 'agent', 'pods', metadata.uid)).then(
          () => false,
          () => true,
        ),
      'its files are gone',
    );
  });

  volumeCases(() => scene);

  it('runs pods of files, shows them in the API, and ends them with their files', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'static' },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', ...shell('sleep 1000') }] },
    };
    await fs.writeFile(
      join(manifests, 'broken.yaml'),
      'kind: Pod\napiVersion: v1\nmetadata: {name: x}\nspec: {container: []}\n',
    );
    await fs.writeFile(join(manifests, 'static.json'), JSON.stringify(pod));
    const name = `static-${nodeName}`;
    const { metadata } = await untilPod(name, 'the mirror shows the running pod', (seen) => seen.phase === 'Running');
    assert.equal(metadata.annotations['kubernetes.io/config.source'], 'file');
    assert.equal(metadata.annotations[mirror], metadata.annotations['kubernetes.io/config.hash']);
    await admin.delete(`${pods}/${name}`);
    await eventually(async () => {
      const { body } = await admin.get(`${pods}/${name}`);
      return body.metadata?.uid !== metadata.uid && body.status?.phase === 'Running';
    }, 'the mirror is back');
    await fs.rm(join(manifests, 'static.json'));
    await eventually(async () => (await admin.get(`${pods}/${name}`)).status === 404, 'the mirror is gone');
    await eventually(
      async () => !(await containerd.runningPods().catch(() => [name])).includes(name),
      'its containers are gone',
    );
  });

  it('answers only those on its port who have rights', async () => {
    const stranger = await agents.issue({ subject: [{ CN: ['stranger'] }] });
    const other = await (await TestIdentity.root('others')).issue({
      subject: [{ O: ['system:masters'] }, { CN: ['friend'] }],
    });
    for (const path of ['/pods', '/exec/default/whole/main?command=id&output=1', '/metrics/resource', '/unknown']) {
      assert.equal((await ask(path)).status, 401, path);
      assert.equal((await ask(path, other)).status, 401, path);
      assert.equal((await ask(path, undefined, { authorization: 'Bearer x' })).status, 401, path);
      assert.equal((await ask(path, stranger)).status, 403, path);
    }
    const listed = await ask('/pods', friend);
    assert.equal(listed.status, 200);
    assert.ok(
      JSON.parse(listed.body).items.some((pod: { metadata: { name: string } }) => pod.metadata.name === 'whole'),
    );
    assert.match(
      (await ask('/metrics/resource', friend)).body,
      /container_memory_working_set_bytes\{container="main",namespace="default",pod="whole"\} [1-9]/,
    );
    assert.match(
      (await ask('/metrics/cadvisor', friend)).body,
      /container_memory_working_set_bytes\{container="main",id="\w+",image="[^"]+",name="\w+",namespace="default",pod="whole"\} [1-9]/,
    );
    assert.match(
      (await ask('/metrics/probes', friend)).body,
      /prober_probe_total\{container="main",namespace="default",pod="whole",pod_uid="[^"]+",probe_type="Readiness",result="successful"\} [1-9]/,
    );
    const summary = JSON.parse((await ask('/stats/summary', friend)).body);
    assert.equal(summary.node.nodeName, nodeName);
    assert.equal((await ask('/unknown', friend)).status, 404);
  });

  it('gets the certificate of its server from the API, when somebody approves it, and asks once, however often it starts', async () => {
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const pending = async () => {
      const { items } = (await admin.get(requests)).body;
      return items.filter(
        ({ spec, status }: { spec: { signerName: string }; status: { conditions?: object[] } }) =>
          spec.signerName === 'kubernetes.io/kubelet-serving' && status.conditions === undefined,
      );
    };
    const [request] = await eventually(async () => {
      const all = await pending();
      return all.length > 0 && all;
    }, 'the request for a certificate');
    await agent.stop('SIGKILL');
    agent = await AgentProcess.start(flags);
    // The agent asks for the certificate of its server before it reports what runs.
    await create('after-restart', { containers: [{ name: 'main', ...shell('sleep 1000') }] });
    await untilPod('after-restart', 'the agent works again', (seen) => seen.phase === 'Running');
    const uids = (await pending()).map(({ metadata }: { metadata: { uid: string } }) => metadata.uid);
    assert.deepEqual(uids, [request.metadata.uid]);
    assert.equal(request.spec.username, `system:node:${nodeName}`);
    const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'a test' };
    const approval = await admin.put(`${requests}/${request.metadata.name}/approval`, {
      ...request,
      status: { conditions: [condition] },
    });
    assert.equal(approval.status, 200, approval.text);
    const shown = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
          const { subject, subjectaltname } = socket.getPeerCertificate();
          resolve(`${subject.CN} ${subjectaltname}`);
          socket.end();
        });
        socket.once('error', reject);
      });
    await eventually(
      async () => (await shown()) === `system:node:${nodeName} DNS:${nodeName}, IP Address:127.0.0.1`,
      'the new certificate',
    );
  });

  csiCases(() => scene);

  hookCases(() => scene);

  endCases(() => scene);

  resizeCases(() => scene);

  it('ends pods that use more of the disk than they may, and says so', async () => {
    await create('full', {
      containers: [
        {
          name: 'main',
          ...shell('dd if=/dev/zero of=/v/file bs=1024 count=3000; sleep 1000'),
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
      volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }],
    });
    await create('greedy', {
      containers: [
        {
          name: 'main',
          ...shell('dd if=/dev/zero of=/file bs=1024 count=3000; sleep 1000'),
          resources: { limits: { 'ephemeral-storage': '1Mi' } },
        },
      ],
    });
    const { status } = await untilPod('full', 'the pod has failed', (seen) => seen.phase === 'Failed');
    assert.deepEqual(
      [status.reason, status.message],
      ['Evicted', 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". '],
    );
    const { reason } = status.conditions.find(({ type }: { type: string }) => type === 'DisruptionTarget');
    assert.equal(reason, 'TerminationByKubelet');
    const greedy = await untilPod('greedy', 'the other pod has failed, too', (seen) => seen.phase === 'Failed');
    assert.deepEqual(
      [greedy.status.reason, greedy.status.message],
      ['Evicted', 'Container main exceeded its local ephemeral storage limit "1Mi". '],
    );
  });

  it('goes on with running containers after it was killed, and makes none twice', async () => {
    const before = (await admin.get(`${pods}/whole`)).body.status.containerStatuses[0].containerID;
    // Those of pods that have ended go meanwhile.
    const kept = async () => {
      const names = ['whole', 'after-restart', 'after-hooked'];
      return (await Promise.all(names.map((name) => containerd.containersOf(name)))).map((ids) => ids.sort());
    };
    const own = await kept();
    assert.ok(own.every((ids) => ids.length >= 2));
    await agent.stop('SIGKILL');
    agent = await AgentProcess.start(flags);
    await create('later', { containers: [{ name: 'main', ...shell('sleep 1000') }] });
    await untilPod('later', 'the agent works again', (seen) => seen.phase === 'Running');
    const { status } = (await admin.get(`${pods}/whole`)).body;
    assert.equal(status.containerStatuses[0].containerID, before);
    assert.equal(status.containerStatuses[0].restartCount, 0);
    assert.deepEqual(await kept(), own);
    assert.equal((await containerd.containersOf('later')).length, 2);
    // A pod that is deleted while the agent is away ends when the agent is back.
    await agent.stop('SIGKILL');
    await admin.delete(`${pods}/later?gracePeriodSeconds=0`);
    agent = await AgentProcess.start(flags);
    await eventually(async () => (await containerd.containersOf('later')).length === 0, 'its containers are gone');
    assert.deepEqual(await kept(), own);
  });

  it('ends its pods before a machine without systemd goes down, and takes no more', async (context) => {
    if (await fs.stat('/run/systemd/system').catch(() => undefined)) return context.skip('this machine has systemd');
    await agent.stop();
    agent = await AgentProcess.start([...flags, '--shutdown-grace-period=20s']);
    await create('last', {
      terminationGracePeriodSeconds: 15,
      containers: [{ name: 'main', ...shell('trap "exit 0" TERM; echo ready; while true; do sleep 0.1; done') }],
    });
    await untilPod('last', 'the pod runs', (seen) => seen.phase === 'Running');
    // Before that, the script would ignore the signal.
    await eventually(() => kubectl.ok(['logs', 'last']) === 'ready\n', 'the script has its trap');
    await agent.stop('SIGTERM');
    const { status } = (await admin.get(`${pods}/last`)).body;
    assert.deepEqual(
      [status.phase, status.reason, status.message],
      ['Failed', 'Terminated', 'Pod was terminated in response to imminent node shutdown.'],
    );
    assert.equal(status.containerStatuses[0].state.terminated.exitCode, 0);
    const { status: node } = (await admin.get(`/api/v1/nodes/${nodeName}`)).body;
    const ready = node.conditions.find(({ type }: { type: string }) => type === 'Ready');
    assert.deepEqual([ready.status, ready.message], ['False', 'node is shutting down']);
    assert.deepEqual(await containerd.runningPods(), []);
    agent = await AgentProcess.start(flags);
  });
});
