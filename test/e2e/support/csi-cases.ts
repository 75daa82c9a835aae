import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TestCsiDriver } from '../../support/test-csi-driver.js';
import type { AgentScene } from './agent-scene.js';
import { eventually } from './test-cluster.js';

const driverName = 'folders.test.example';
const storage = '/apis/storage.k8s.io/v1';
const pods = '/api/v1/namespaces/default/pods';
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';

/** Cases about CSI drivers of a node agent. */
export function csiCases(scene: () => AgentScene): void {
  describe('with a driver for volumes', () => {
    let driver: TestCsiDriver;

    before(async () => {
      const { admin, folder, nodeName } = scene();
      driver = await TestCsiDriver.start(driverName, folder);
      const spec = {
        podInfoOnMount: true,
        fsGroupPolicy: 'File',
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      };
      const { status, text } = await admin.post(`${storage}/csidrivers`, { metadata: { name: driverName }, spec });
      assert.equal(status, 201, text);
      await eventually(async () => driver.registered?.pluginRegistered, 'the driver is registered');
      const { body } = await admin.get(`${storage}/csinodes/${nodeName}`);
      assert.deepEqual(body.spec.drivers, [
        {
          name: driverName,
          nodeID: `${driverName}-node`,
          topologyKeys: ['test.example/place'],
          allocatable: { count: 7 },
        },
      ]);
      assert.equal(body.metadata.ownerReferences[0].name, nodeName);
    });
    after(() => driver?.stop());

    /** A volume of the driver, and a claim that is bound to it. */
    async function volume(name: string, size: string, more: object = {}): Promise<void> {
      const { admin } = scene();
      const shared = { accessModes: ['ReadWriteOnce'], storageClassName: '', ...more };
      const csi = { driver: driverName, volumeHandle: `handle-${name}`, volumeAttributes: { word: 'hello' } };
      const made = await admin.post('/api/v1/persistentvolumes', {
        metadata: { name },
        spec: { ...shared, capacity: { storage: size }, csi, claimRef: { namespace: 'default', name } },
      });
      assert.equal(made.status, 201, made.text);
      const claimed = await admin.post(claims, {
        metadata: { name },
        spec: { ...shared, volumeName: name, resources: { requests: { storage: size } } },
      });
      assert.equal(claimed.status, 201, claimed.text);
    }

    /** Acts as the driver's attacher in a cluster. */
    async function attach(volumeName: string): Promise<void> {
      const { admin } = scene();
      const name = await eventually(async () => {
        const { body } = await admin.get(`${storage}/volumeattachments`);
        return body.items.find(
          (each: { spec: { source: { persistentVolumeName: string } } }) =>
            each.spec.source.persistentVolumeName === volumeName,
        )?.metadata.name;
      }, 'the volume should be attached');
      const status = { attached: true, attachmentMetadata: { device: 'x' } };
      const { status: code, text } = await admin.patch(`${storage}/volumeattachments/${name}/status`, 'merge', {
        status,
      });
      assert.equal(code, 200, text);
    }

    const mounted = (claimName: string) => ({ name: 'v', persistentVolumeClaim: { claimName } });

    it('stages and publishes an attached volume, tells the driver of the pod, and takes all of it away again', async () => {
      const { admin, nodeName, folder, create, untilPod, shell } = scene();
      await volume('first', '1Gi');
      await create('stored', {
        securityContext: { fsGroup: 4321 },
        containers: [
          { name: 'main', ...shell('echo kept > /v/file; sleep 1000'), volumeMounts: [{ name: 'v', mountPath: '/v' }] },
        ],
        volumes: [mounted('first')],
      });
      await attach('first');
      const { metadata } = await untilPod('stored', 'the pod runs', (seen) => seen.phase === 'Running');
      // A container that runs has not written yet, and the file is empty before it has its text.
      const file = join(folder, 'plugins', driverName, 'volumes', 'handle-first', 'file');
      await eventually(
        async () => (await fs.readFile(file, 'utf8').catch(() => '')) === 'kept\n',
        'the container has written to the volume',
      );
      const staged = driver.callsOf('NodeStageVolume')[0]?.request;
      assert.deepEqual(staged.publishContext, { device: 'x' });
      assert.match(staged.stagingTargetPath, new RegExp(`kubernetes.io/csi/${driverName}/[0-9a-f]{64}/globalmount$`));
      const request = driver.callsOf('NodePublishVolume')[0]?.request;
      assert.equal(request.targetPath, join(folder, 'pods', metadata.uid, 'volumes/kubernetes.io~csi/first/mount'));
      assert.equal(request.stagingTargetPath, staged.stagingTargetPath);
      assert.deepEqual(request.volumeContext, {
        word: 'hello',
        'csi.storage.k8s.io/pod.name': 'stored',
        'csi.storage.k8s.io/pod.namespace': 'default',
        'csi.storage.k8s.io/pod.uid': metadata.uid,
        'csi.storage.k8s.io/serviceAccount.name': 'default',
        'csi.storage.k8s.io/ephemeral': 'false',
      });
      const { gid } = await fs.stat(join(folder, 'plugins', driverName, 'volumes', 'handle-first'));
      assert.equal(gid, 4321);
      const inUse = () => admin.get(`/api/v1/nodes/${nodeName}`).then(({ body }) => body.status.volumesInUse);
      assert.deepEqual(await inUse(), [`kubernetes.io/csi/${driverName}^handle-first`]);
      await admin.delete(`${pods}/stored`);
      await eventually(async () => (await admin.get(`${pods}/stored`)).status === 404, 'the pod is gone');
      await eventually(async () => (await inUse()) === undefined, 'the volume is free');
      assert.equal(driver.callsOf('NodeUnpublishVolume').length, 1);
      assert.equal(driver.callsOf('NodeUnstageVolume').length, 1);
      assert.equal(await fs.stat(staged.stagingTargetPath).catch(() => undefined), undefined);
    });

    it('keeps a volume over its own end, and does nothing twice', async () => {
      const { admin, create, untilPod, shell, restartAgent, askAgent } = scene();
      await volume('second', '1Gi');
      await create('lasting', {
        containers: [
          { name: 'main', ...shell('sleep 1000'), volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'part' }] },
        ],
        volumes: [mounted('second')],
      });
      await attach('second');
      await untilPod('lasting', 'the pod runs', (seen) => seen.phase === 'Running');
      const published = driver.callsOf('NodePublishVolume').length;
      driver.registered = undefined;
      await restartAgent();
      await eventually(async () => driver.registered?.pluginRegistered, 'the new agent knows the driver');
      // The file system is expanded at the path that the pod has mounted.
      const size = { spec: { capacity: { storage: '2Gi' } } };
      assert.equal((await admin.patch('/api/v1/persistentvolumes/second', 'merge', size)).status, 200);
      await admin.patch(`${pods}/lasting`, 'merge', { metadata: { annotations: { look: 'again' } } });
      await eventually(
        async () => (await admin.get(`${claims}/second`)).body.status.capacity.storage === '2Gi',
        'the claim has its new size',
      );
      assert.equal(driver.callsOf('NodePublishVolume').length, published);
      const request = driver.callsOf('NodeExpandVolume')[0]?.request;
      assert.deepEqual(request.capacityRange, { requiredBytes: 2 * 2 ** 30, limitBytes: 0 });
      // A summary does not wait for a driver that takes its time.
      const [{ time: _time, ...use }] = await eventually(async () => {
        const summary = JSON.parse(await askAgent('/stats/summary'));
        const found = summary.pods.find((each: { podRef: { name: string } }) => each.podRef.name === 'lasting');
        return found?.volume?.length > 0 && found.volume;
      }, 'the driver has reported the use of the volume');
      assert.deepEqual(use, {
        ...{ availableBytes: 70, capacityBytes: 100, usedBytes: 30, inodesFree: 6, inodes: 9, inodesUsed: 3 },
        ...{ name: 'v', pvcRef: { name: 'second', namespace: 'default' } },
      });
      // A failing driver is asked again, and the pod stays until it succeeds.
      driver.failures.set('NodeUnpublishVolume', 'not now');
      const before = driver.callsOf('NodeUnpublishVolume').length;
      await admin.delete(`${pods}/lasting`);
      await eventually(
        async () => driver.callsOf('NodeUnpublishVolume').length > before + 1,
        'the driver is asked again',
      );
      assert.equal((await admin.get(`${pods}/lasting`)).status, 200);
      driver.failures.clear();
      await eventually(async () => (await admin.get(`${pods}/lasting`)).status === 404, 'the pod is gone');
    });

    it('gives a volume that only the pod has, and a device', async () => {
      const { admin, create, untilPod, shell, kubectl } = scene();
      await volume('third', '1Gi', { volumeMode: 'Block' });
      await create('own', {
        containers: [
          {
            name: 'main',
            ...shell('test -c /dev/own && head -c 3 /dev/own | od -An -tx1; sleep 1000'),
            volumeMounts: [{ name: 'inline', mountPath: '/v' }],
            volumeDevices: [{ name: 'v', devicePath: '/dev/own' }],
          },
        ],
        volumes: [
          mounted('third'),
          { name: 'inline', csi: { driver: driverName, readOnly: true, volumeAttributes: { kind: 'small' } } },
        ],
      });
      await attach('third');
      await untilPod('own', 'the pod runs', (seen) => seen.phase === 'Running');
      const inline = driver.callsOf('NodePublishVolume').find(({ request }) => request.volumeContext.kind === 'small');
      assert.equal(inline?.request.volumeContext['csi.storage.k8s.io/ephemeral'], 'true');
      assert.equal(inline?.request.readonly, true);
      assert.match(inline?.request.volumeId, /^csi-[0-9a-f]{64}$/);
      await eventually(() => kubectl.ok(['logs', 'own']).includes('00 00 00'), 'the container reads its device');
      await admin.delete(`${pods}/own`);
      await eventually(async () => (await admin.get(`${pods}/own`)).status === 404, 'the pod is gone');
    });

    it('forgets a driver whose socket is gone, and waits for it with what needs it', async () => {
      const { admin, nodeName, create } = scene();
      await driver.stop();
      await eventually(async () => {
        const { body } = await admin.get(`${storage}/csinodes/${nodeName}`);
        return (body.spec.drivers ?? []).length === 0;
      }, 'the node no longer has the driver');
      await create('waiting', {
        containers: [{ name: 'main', image: 'none', volumeMounts: [{ name: 'inline', mountPath: '/v' }] }],
        volumes: [{ name: 'inline', csi: { driver: driverName } }],
      });
      await eventually(async () => {
        const { body } = await admin.get('/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=waiting');
        return body.items.some(({ message }: { message: string }) =>
          message.includes(`driver name ${driverName} not found in the list of registered CSI drivers`),
        );
      }, 'an event says what is missing');
      await admin.delete(`${pods}/waiting`);
      await eventually(async () => (await admin.get(`${pods}/waiting`)).status === 404, 'the pod is gone');
    });
  });
}
