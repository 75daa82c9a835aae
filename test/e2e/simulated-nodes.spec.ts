import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { NodeProcess } from './support/node-process.js';
import { eventually, freePort, TestCluster } from './support/test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';
const leases = '/apis/coordination.k8s.io/v1/namespaces/control-node-lease/leases';

describe('simulated nodes', () => {
  let cluster: TestCluster;
  let admin: ApiClient;
  let nodes: NodeProcess;
  let controllers: string;
  const flags = () => [`--kubeconfig=${cluster.second.kubeconfig}`, '--restart-back-off=100ms'];

  before(async () => {
    cluster = await TestCluster.start({
      flags: [
        '--authorization-mode=Node,RBAC',
        '--enable-admission-plugins=NodeRestriction',
        '--kubelet-preferred-address-types=InternalIP',
        '--kubelet-timeout=20s',
      ],
    });
    // The nodes use the other server.
    admin = cluster.first.client;
    nodes = await NodeProcess.start([...flags(), '--node-lease-duration=4s', '--simulated-storage-class']);
  });
  after(async () => {
    await nodes?.stop();
    await cluster?.stop();
  });

  async function create(name: string, spec: object, annotations: Readonly<Record<string, string>> = {}) {
    const prefixed = Object.entries(annotations).map(([key, value]) => [`sim.plinth.dev/${key}`, value]);
    const body = {
      metadata: { name, annotations: Object.fromEntries(prefixed) },
      spec: { nodeName: 'sim-1', containers: [{ name: 'c', image: 'nginx' }], ...spec },
    };
    const { status, text } = await admin.post(pods, body);
    assert.equal(status, 201, text);
  }

  /** Waits until the status of a pod is as expected. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
  const untilPod = (name: string, what: string, look: (status: any) => boolean) =>
    eventually(async () => {
      const { body } = await admin.get(`${pods}/${name}`);
      return body.status !== undefined && look(body.status) && body;
    }, what);

  it('register with labels, capacity, addresses and conditions', async () => {
    const { body } = await admin.get('/api/v1/nodes');
    assert.deepEqual(
      body.items.map((node: { metadata: { name: string } }) => node.metadata.name),
      ['sim-0', 'sim-1', 'sim-2'],
    );
    const [, node] = body.items;
    assert.equal(node.metadata.labels['topology.kubernetes.io/zone'], 'sim-zone-b');
    assert.equal(node.metadata.labels['kubernetes.io/hostname'], 'sim-1');
    assert.equal(node.status.allocatable.cpu, '8');
    assert.deepEqual(
      node.status.conditions.map(({ type, status }: { type: string; status: string }) => `${type}=${status}`),
      ['MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False', 'Ready=True'],
    );
  });

  it('have an address each, where only their own pods answer', async () => {
    const { body } = await admin.get('/api/v1/nodes');
    const addresses = body.items.map(({ status }: { status: { addresses: { address: string }[] } }) => {
      return status.addresses[0]?.address;
    });
    assert.deepEqual(addresses, ['127.0.16.1', '127.0.16.2', '127.0.16.3']);
    for (const name of ['sim-0', 'sim-2']) {
      const { status, text } = await admin.get(`/api/v1/nodes/${name}/proxy/healthz`);
      assert.deepEqual([status, text], [200, 'ok']);
    }
    await create('placed', {});
    await untilPod('placed', 'the running pod', ({ phase }) => phase === 'Running');
    const logs = (node: string) => admin.get(`/api/v1/nodes/${node}/proxy/containerLogs/default/placed/c`);
    assert.equal((await logs('sim-1')).status, 200);
    assert.equal((await logs('sim-2')).status, 404);
  });

  it('let others have extended resources', async () => {
    const status = (capacity: object) => admin.patch('/api/v1/nodes/sim-0/status', 'merge', { status: { capacity } });
    const allocatable = async () => (await admin.get('/api/v1/nodes/sim-0')).body.status.allocatable;
    assert.equal((await status({ 'example.com/gpu': '4' })).status, 200);
    await eventually(async () => (await allocatable())['example.com/gpu'] === '4', 'four allocatable ones');
    assert.equal((await status({ 'example.com/gpu': null })).status, 200);
    await eventually(async () => !('example.com/gpu' in (await allocatable())), 'none');
    assert.equal((await allocatable()).cpu, '8');
  });

  it('wait until the volumes of a pod are attached, and say which they have mounted', async () => {
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    const driver = 'disks.example.com';
    const uniqueName = `kubernetes.io/csi/${driver}^h1`;
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
    const claim = await admin.post(claims, {
      metadata: { name: 'disk' },
      spec: { ...spec, volumeName: 'disk', resources: { requests: { storage: '1Gi' } } },
    });
    assert.equal(claim.status, 201, claim.text);
    const claimRef = { namespace: 'default', name: 'disk', uid: claim.body.metadata.uid };
    const volume = { ...spec, capacity: { storage: '1Gi' }, csi: { driver, volumeHandle: 'h1' }, claimRef };
    assert.equal(
      (await admin.post('/api/v1/persistentvolumes', { metadata: { name: 'disk' }, spec: volume })).status,
      201,
    );
    const phase = { status: { phase: 'Bound' } };
    assert.equal((await admin.patch(`${claims}/disk/status`, 'merge', phase)).status, 200);
    await create('disk', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'disk' } }] });
    const node = async () => (await admin.get('/api/v1/nodes/sim-1')).body;
    await eventually(async () => (await node()).status.volumesInUse?.[0] === uniqueName, 'the report of the volume');
    const annotation = 'volumes.kubernetes.io/controller-managed-attach-detach';
    assert.equal((await node()).metadata.annotations[annotation], 'true');
    const waiting = await untilPod(
      'disk',
      'the waiting pod',
      ({ containerStatuses }) => containerStatuses?.length === 1,
    );
    assert.equal(waiting.status.containerStatuses[0].state.waiting.reason, 'ContainerCreating');
    // The work of the control loop after the driver has attached the volume.
    const volumesAttached = [{ name: uniqueName, devicePath: '' }];
    assert.equal(
      (await admin.patch('/api/v1/nodes/sim-1/status', 'merge', { status: { volumesAttached } })).status,
      200,
    );
    await untilPod('disk', 'the running pod', ({ phase }) => phase === 'Running');
    await admin.delete(`${pods}/disk`);
    await eventually(async () => (await node()).status.volumesInUse === undefined, 'the unmounted volume');
  });

  it('renew their leases', async () => {
    const renewed = async () => (await admin.get(`${leases}/sim-2`)).body.spec.renewTime as string;
    const first = await renewed();
    await eventually(async () => (await renewed()) > first, 'a renewed lease');
    const { body } = await admin.get(`${leases}/sim-2`);
    assert.equal(body.metadata.ownerReferences[0].name, 'sim-2');
  });

  it('run a bound pod', async () => {
    await create('server', {});
    const pod = await untilPod('server', 'the running pod', ({ phase }) => phase === 'Running');
    const { status } = pod;
    assert.match(status.podIP, /^10\.128\.1\./);
    assert.deepEqual([status.hostIP, status.podIPs], ['127.0.16.2', [{ ip: status.podIP }]]);
    assert.deepEqual(
      status.conditions.map(({ type, status }: { type: string; status: string }) => `${type}=${status}`).sort(),
      ['ContainersReady=True', 'Initialized=True', 'PodReadyToStartContainers=True', 'PodScheduled=True', 'Ready=True'],
    );
    const seen = status.conditions.map(({ observedGeneration }: { observedGeneration?: number }) => observedGeneration);
    assert.deepEqual(seen, Array(5).fill(pod.metadata.generation));
    assert.ok(status.containerStatuses[0].state.running.startedAt);
    const owners = pod.metadata.managedFields.filter(({ subresource }: { subresource?: string }) => subresource);
    assert.equal(owners[0].manager, 'plinth-nodes');
  });

  it('let tasks end and repeat those that fail', async () => {
    await create('task', { restartPolicy: 'Never' }, { 'run-seconds': '0.1', 'exit-code': '4' });
    await create('again', { restartPolicy: 'OnFailure' }, { 'run-seconds': '0.1', 'fail-times': '2' });
    const task = await untilPod('task', 'the failed task', ({ phase }) => phase === 'Failed');
    assert.equal(task.status.containerStatuses[0].state.terminated.exitCode, 4);
    const again = await untilPod('again', 'the task that succeeded', ({ phase }) => phase === 'Succeeded');
    assert.equal(again.status.containerStatuses[0].restartCount, 2);
  });

  it('show images that cannot be fetched', async () => {
    await create('bad', { containers: [{ name: 'c', image: 'bad:1' }] });
    const reason = (wanted: string) =>
      untilPod('bad', wanted, ({ containerStatuses }) => containerStatuses?.[0].state.waiting?.reason === wanted);
    await reason('ImagePullBackOff');
    await eventually(async () => {
      const { body } = await admin.get('/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=bad');
      return body.items.some(({ message }: { message: string }) => message === 'Error: ErrImagePull');
    }, 'the event of the image');
  });

  it('open the readiness gate of a pod when its condition comes', async () => {
    await create('gated', { readinessGates: [{ conditionType: 'example.com/gate' }] });
    const isReady = (wanted: string) => (status: { conditions?: { type: string; status: string }[] }) =>
      status.conditions?.some(({ type, status }) => type === 'Ready' && status === wanted) === true;
    await untilPod('gated', 'the closed gate', isReady('False'));
    const condition = { type: 'example.com/gate', status: 'True', lastTransitionTime: null };
    const opened = await admin.patch(`${pods}/gated/status`, 'strategic-merge', {
      status: { conditions: [condition] },
    });
    assert.equal(opened.status, 200, opened.text);
    await untilPod('gated', 'the open gate', isReady('True'));
  });

  it('resize pods while they run, as soon as they have room', async () => {
    const size = (cpu: string, more: object = {}) => ({
      containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu } }, ...more }],
    });
    const resize = (name: string, spec: object) => admin.patch(`${pods}/${name}/resize`, 'strategic-merge', { spec });
    // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
    const has = (cpu: string) => (status: any) =>
      status.containerStatuses?.[0]?.resources?.requests?.cpu === cpu &&
      status.containerStatuses[0].allocatedResources.cpu === cpu;
    // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
    const condition = (status: any, type: string) => status.conditions?.find((one: any) => one.type === type);

    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    await create('resized', { nodeName: 'sim-2', ...size('1', { resizePolicy }) });
    await create('neighbour', { nodeName: 'sim-2', ...size('5') });
    for (const name of ['resized', 'neighbour'])
      await untilPod(name, 'the running pod', ({ phase }) => phase === 'Running');
    const grown = await resize('resized', size('2'));
    assert.deepEqual([grown.status, grown.body.metadata.generation], [200, 2], grown.text);
    const { status } = await untilPod('resized', 'the larger pod', has('2'));
    assert.deepEqual([status.containerStatuses[0].restartCount, condition(status, 'PodResizePending')], [1, undefined]);

    assert.equal((await resize('resized', size('4'))).status, 200);
    const waiting = await untilPod('resized', 'the resize that waits', (now) => condition(now, 'PodResizePending'));
    const { reason, message, observedGeneration } = condition(waiting.status, 'PodResizePending');
    const expected = "Node didn't have enough resource: cpu, requested: 4000, used: 5000, capacity: 8000";
    assert.deepEqual([reason, message, observedGeneration], ['Deferred', expected, 3]);
    assert.ok(has('2')(waiting.status));
    assert.equal((await resize('neighbour', size('3'))).status, 200);
    const last = await untilPod('resized', 'room for the pod', has('4'));
    assert.equal(condition(last.status, 'PodResizePending'), undefined);

    const refused = await resize('resized', size('9'));
    assert.deepEqual([refused.status, refused.body.details.causes], [403, [{ reason: 'NodeCapacity' }]], refused.text);
    const { body } = await admin.get('/api/v1');
    const found = body.resources.find(({ name }: { name: string }) => name === 'pods/resize');
    assert.deepEqual([found.kind, found.verbs], ['Pod', ['get', 'patch', 'update']]);
    assert.equal((await admin.get(`${pods}/resized/resize`)).body.kind, 'Pod');
  });

  it('remove deleted pods after their containers ended', async () => {
    await create('leaving', {}, { 'stop-seconds': '0.3' });
    await untilPod('leaving', 'the running pod', ({ phase }) => phase === 'Running');
    const { body } = await admin.delete(`${pods}/leaving`);
    assert.equal(body.metadata.deletionGracePeriodSeconds, 30);
    await eventually(async () => (await admin.get(`${pods}/leaving`)).status === 404, 'the removal');
  });

  it('report the end of a pod that a finalizer keeps', async () => {
    await create('kept', {});
    await untilPod('kept', 'the running pod', ({ phase }) => phase === 'Running');
    await admin.patch(`${pods}/kept`, 'merge', { metadata: { finalizers: ['example.com/keep'] } });
    await admin.delete(`${pods}/kept`);
    const { metadata } = await untilPod('kept', 'the ended pod', ({ phase }) => phase === 'Succeeded');
    await eventually(async () => {
      const { body } = await admin.get(`${pods}/kept`);
      return body.metadata.deletionGracePeriodSeconds === 0;
    }, 'the removal by the node');
    assert.ok(metadata.deletionTimestamp);
    await admin.patch(`${pods}/kept`, 'merge', { metadata: { finalizers: null } });
    await eventually(async () => (await admin.get(`${pods}/kept`)).status === 404, 'the removal');
  });

  describe('logs', () => {
    const log = (name: string, query = '') => admin.get(`${pods}/${name}/log${query}`);

    before(async () => {
      const two = { initContainers: [{ name: 'i', image: 'x' }], containers: [{ name: 'a' }, { name: 'b' }] };
      await create('talking', {}, { logs: 'one\ntwo\nthree' });
      await create('several', {
        ...two,
        containers: two.containers.map((container) => ({ ...container, image: 'nginx' })),
      });
      await create('crashing', {}, { 'run-seconds.c': '0.2', 'exit-code.c': '1', 'logs.c': 'boom' });
      for (const name of ['talking', 'several']) {
        await untilPod(name, 'the running pod', ({ phase }) => phase === 'Running');
      }
    });

    it('are sent at the pace that --max-connection-bytes-per-sec allows', async () => {
      await create('long', {}, { logs: 'x'.repeat(60_000) });
      await eventually(async () => (await log('long')).text.length > 60_000, 'the log is there', 30_000);
      const limited = await cluster.addServer(undefined, ['--max-connection-bytes-per-sec=20000']);
      const began = performance.now();
      const { text } = await limited.client.get(`${pods}/long/log`);
      assert.equal(text.length, 60_001);
      // The last piece is not waited for; pieces are 16 KiB at most, or twice that.
      assert.ok(performance.now() - began > 1000, `${performance.now() - began} ms`);
      await limited.stop();
    });

    it('are those of the container, through any server', async () => {
      const { status, text, headers } = await log('talking');
      assert.deepEqual([status, text], [200, 'one\ntwo\nthree\n']);
      assert.equal(headers['content-type'], 'text/plain');
      const other = await cluster.second.client.get(`${pods}/talking/log`);
      assert.equal(other.text, text);
    });

    it('are cut as the client asks', async () => {
      assert.equal((await log('talking', '?tailLines=2')).text, 'two\nthree\n');
      assert.equal((await log('talking', '?tailLines=0')).text, '');
      assert.equal((await log('talking', '?limitBytes=5')).text, 'one\nt');
      assert.match((await log('talking', '?timestamps=true&tailLines=1')).text, /^\d{4}-\d\d-\d\dT[\d:.]+Z three\n$/);
      assert.equal((await log('talking', '?sinceTime=2100-01-01T00:00:00Z')).text, '');
      assert.equal((await log('talking', '?sinceSeconds=3600')).text, 'one\ntwo\nthree\n');
    });

    for (const [query, code, message] of [
      [
        '?tailLines=-1',
        422,
        'PodLogOptions "talking" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
      ],
      [
        '?limitBytes=0',
        422,
        'PodLogOptions "talking" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
      ],
      ['?sinceTime=x', 400, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
      ['?stream=Stdout', 422, 'PodLogOptions "talking" is invalid: stream: Forbidden: may not be specified'],
      ['?tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
      ['?limitBytes=9223372036854775808', 400, 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
      ['?container=z', 400, 'container z is not valid for pod talking'],
      ['?previous=true', 400, 'previous terminated container "c" in pod "talking" not found'],
    ] as const) {
      it(`refuse ${query} with a Status`, async () => {
        const { status, body } = await log('talking', query);
        assert.deepEqual([status, body.kind, body.code, body.message], [code, 'Status', code, message]);
      });
    }

    it('have no form but text, and none for a client that accepts only tables', async () => {
      const as = (accept: string) => cluster.first.client.get(`${pods}/talking/log`, { headers: { accept } });
      const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
      assert.equal((await as(table)).status, 406);
      assert.equal((await as(`${table},application/json`)).text, 'one\ntwo\nthree\n');
    });

    it('need the name of one of several containers', async () => {
      const { status, body } = await log('several');
      assert.equal(status, 400);
      assert.equal(
        body.message,
        'a container name must be specified for pod several, choose one of: [a b] or one of the init containers: [i]',
      );
      assert.match((await log('several', '?container=i')).text, /simulated container i/);
    });

    it('of the run before are there after a restart', async () => {
      await untilPod('crashing', 'a restart', ({ containerStatuses }) => containerStatuses?.[0].restartCount > 1);
      assert.equal((await log('crashing', '?previous=true')).text, 'boom\n');
    });

    it('are followed until the client leaves or the container ends', async () => {
      await create('ticking', { restartPolicy: 'Never' }, { 'run-seconds': '1.5', logs: 'tick', 'log-every': '0.5' });
      await untilPod('ticking', 'the running pod', ({ phase }) => phase === 'Running');
      const { text } = await log('ticking', '?follow=true');
      // A busy machine may let the container tick once more.
      assert.match(text, /^(tick\n){3,}$/);
    });

    it('of a pod without a node are empty, and of none a 404', async () => {
      const made = await admin.post(pods, {
        metadata: { name: 'waiting' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      });
      assert.equal(made.status, 201);
      const { status, text } = await log('waiting');
      assert.deepEqual([status, text], [204, '']);
      assert.equal((await log('none')).status, 404);
    });

    it('say why a node cannot be reached', async () => {
      const node = (name: string, address: string, port: number) =>
        admin.post('/api/v1/nodes', {
          metadata: { name },
          status: {
            addresses: [{ type: 'InternalIP', address }],
            daemonEndpoints: { kubeletEndpoint: { Port: port } },
          },
        });
      await node('silent', '127.0.0.1', 1);
      await node('denied', '169.254.169.254', 80);
      await node('homeless', '', 80);
      for (const [nodeName, message] of [
        [
          'silent',
          /^Get "https:\/\/127\.0\.0\.1:1\/containerLogs\/default\/on-silent\/c": dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
        ],
        ['denied', /connections to 169\.254\.169\.254 are not allowed/],
        ['homeless', /no preferred addresses found/],
      ] as const) {
        await create(`on-${nodeName}`, { nodeName });
        const { status, body } = await log(`on-${nodeName}`);
        assert.equal(status, 500);
        assert.match(body.message, message);
      }
    });
  });

  it('come with volumes, for claims whose pod has a node', async () => {
    const classes = '/apis/storage.k8s.io/v1/storageclasses';
    await eventually(async () => (await admin.get(`${classes}/simulated`)).status === 200, 'the class');
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    const made = await admin.post(claims, {
      metadata: {
        name: 'data',
        annotations: { 'volume.kubernetes.io/storage-provisioner': 'sim.plinth.dev/volumes' },
      },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    assert.equal(made.body.spec.storageClassName, 'simulated', made.text);
    const volume = `/api/v1/persistentvolumes/pvc-${made.body.metadata.uid}`;
    assert.equal((await admin.get(volume)).status, 404);
    const annotations = { 'volume.kubernetes.io/selected-node': 'sim-1' };
    await admin.patch(`${claims}/data`, 'merge', { metadata: { annotations } });
    const { spec, metadata } = await eventually(async () => {
      const { status, body } = await admin.get(volume);
      return status === 200 && body;
    }, 'the volume');
    assert.equal(spec.claimRef.uid, made.body.metadata.uid);
    const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
    assert.ok(metadata.finalizers.includes(finalizer));
    // Without a control loop the condition never changes.
    await admin.patch(`${volume}/status`, 'merge', { status: { phase: 'Released' } });
    await eventually(async () => {
      const { status, body } = await admin.get(volume);
      const isLetGo = body.metadata?.deletionTimestamp !== undefined && !body.metadata.finalizers.includes(finalizer);
      return status === 404 || isLetGo;
    }, 'the end of the volume');
  });

  it('go on with their pods when they start again', async () => {
    await create('lasting', {}, { 'run-seconds': '0.1', 'fail-times': '1' });
    await create('steady', {});
    const before = await untilPod('steady', 'the running pod', ({ phase }) => phase === 'Running');
    await nodes.stop('SIGKILL');
    await create('meanwhile', {});
    nodes = await NodeProcess.start([...flags(), '--node-address=127.0.99.1']);
    await untilPod('meanwhile', 'the pod that waited', ({ phase }) => phase === 'Running');
    const address = '127.0.99.1';
    // Nodes may have other addresses than before.
    const body = await untilPod('steady', 'the new address of the node', ({ hostIP }) => hostIP === address);
    assert.deepEqual(body.status.hostIPs, [{ ip: address }]);
    assert.equal(body.status.podIP, before.status.podIP);
    assert.deepEqual(body.status.containerStatuses, before.status.containerStatuses);
  });

  it('are found dead with their pods when their process stops, and come back with it', async () => {
    await create('tolerant', { tolerations: [{ operator: 'Exists' }] });
    const isReady = (wanted: string) => (status: { conditions?: { type: string; status: string }[] }) =>
      status.conditions?.some(({ type, status }) => type === 'Ready' && status === wanted) === true;
    await untilPod('tolerant', 'the ready pod', isReady('True'));
    await nodes.stop('SIGKILL');
    const port = await freePort();
    cluster.startControllers([
      '--node-monitor-grace-period=2s',
      '--controllers=nodelifecycle,taint-eviction-controller',
      `--controllers-metrics-bind-address=127.0.0.1:${port}`,
    ]);
    controllers = `http://127.0.0.1:${port}`;
    const taints = async () => {
      const { body } = await admin.get('/api/v1/nodes/sim-1');
      return (body.spec.taints ?? []).map(({ key, effect }: { key: string; effect: string }) => `${key}:${effect}`);
    };
    await eventually(async () => (await taints()).includes('node.kubernetes.io/unreachable:NoSchedule'), 'the taint');
    await untilPod('tolerant', 'the pod that is not ready', isReady('False'));
    nodes = await NodeProcess.start([...flags(), '--node-lease-duration=2s']);
    await eventually(async () => (await taints()).length === 0, 'no taints');
    await untilPod('tolerant', 'the pod that is ready again', isReady('True'));
  });

  it('are counted in the metrics of the control loops', async () => {
    const get = async (path: string) => {
      const answer = await fetch(`${controllers}${path}`);
      return [answer.status, await answer.text()] as const;
    };
    const [status, text] = await get('/metrics');
    assert.equal(status, 200);
    assert.match(text, /^workqueue_adds_total\{name="node-controller"\} [1-9]/m);
    assert.match(text, /^workqueue_depth\{name="taint-eviction-controller"\} \d/m);
    assert.deepEqual(await get('/healthz'), [200, 'ok']);
    assert.deepEqual(await get('/readyz'), [200, 'ok']);
    assert.equal((await get('/api'))[0], 404);
  });

  it('refuse a server that they cannot use, in one line', async () => {
    await assert.rejects(NodeProcess.start(['--server=http://x']), /the nodes ended with 2/);
    await assert.rejects(NodeProcess.start([]), /the nodes ended with 1/);
  });
});
