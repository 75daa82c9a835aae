import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import { attachmentName } from '../../../objects/apis/storage/csi-names.js';
import type { VolumeAttachment } from '../../../objects/apis/storage/v1/volume-attachment.types.js';
import type { StoredClaim } from '../ephemeral-volume/ephemeral-claims.js';
import type { StoredNode } from '../node-lifecycle/node-silence.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { StoredVolume } from './attachable-volume.js';
import { decideDetach, longestUnmountMs } from './detach-rule.js';

type StoredAttachment = VolumeAttachment & ApiObject;
type StoredEvent = Event & ApiObject;

const namespace = 'default';
const attachments = 'volumeattachments.storage';
const driver = 'disks.example.com';
const uniqueName = (name: string) => `kubernetes.io/csi/${driver}^handle-${name}`;
const idOf = (volume: string, node: string) => attachmentName({ driver, handle: `handle-${volume}` }, node);

async function addNode(
  scene: LoopScene,
  name: string,
  annotations: object = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
) {
  await scene.create('nodes', { metadata: { name, annotations } } as object);
  await setNode(scene, name, { conditions: [{ type: 'Ready', status: 'True' }] });
}

async function setNode(scene: LoopScene, name: string, status: object) {
  await scene.update<StoredNode>(
    'nodes',
    '',
    name,
    (live) => {
      live.status = { ...live.status, ...status } as StoredNode['status'];
    },
    'status',
  );
}

/** A PersistentVolume and a claim that are bound to each other. */
async function addVolume(scene: LoopScene, name: string, mode = 'ReadWriteOnce', source: object = {}) {
  const claim = await scene.create<StoredClaim>('persistentvolumeclaims', {
    metadata: { name, namespace },
    spec: { accessModes: [mode], resources: { requests: { storage: '1Gi' } }, volumeName: `pv-${name}` },
  } as object);
  await scene.create<StoredVolume>('persistentvolumes', {
    metadata: { name: `pv-${name}` },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: [mode],
      claimRef: { kind: 'PersistentVolumeClaim', namespace, name, uid: claim.metadata.uid },
      csi: { driver, volumeHandle: `handle-${name}` },
      ...source,
    },
  } as object);
  const bound = (live: StoredClaim) => {
    live.status = { ...live.status, phase: 'Bound' } as StoredClaim['status'];
  };
  await scene.update<StoredClaim>('persistentvolumeclaims', namespace, name, bound, 'status');
}

async function addPod(scene: LoopScene, name: string, nodeName: string, claimName: string) {
  await scene.create('pods', {
    metadata: { name, namespace },
    spec: {
      nodeName,
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
    },
  } as object);
}

const attachment = (scene: LoopScene, id: string) =>
  scene.until<StoredAttachment, StoredAttachment>(attachments, `the attachment ${id}`, (all) =>
    all.find(({ metadata }) => metadata.name === id),
  );

const gone = (scene: LoopScene, id: string) =>
  scene.until<StoredAttachment, boolean>(attachments, `the attachment ${id} is gone`, (all) =>
    all.every(({ metadata }) => metadata.name !== id),
  );

/** Writes the status that the driver's attacher would write. */
async function answer(scene: LoopScene, id: string, status: object) {
  await scene.update<StoredAttachment>(
    attachments,
    '',
    id,
    (live) => {
      live.status = status as StoredAttachment['status'];
    },
    'status',
  );
}

const listed = (scene: LoopScene, node: string, names: readonly string[]) =>
  scene.until<StoredNode, boolean>('nodes', `${node} lists ${names}`, (all) => {
    const found = all.find(({ metadata }) => metadata.name === node)?.status?.volumesAttached ?? [];
    return JSON.stringify(found.map(({ name }) => name)) === JSON.stringify(names);
  });

const event = (scene: LoopScene, pod: string, reason: string, message: string) =>
  scene.until<StoredEvent, StoredEvent>('events', `${pod}: ${reason} ${message}`, (all) =>
    all.find((one) => one.involvedObject.name === pod && one.reason === reason && one.message === message),
  );

describe('AttachDetachController', () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());

  async function withScene(use: (scene: LoopScene, timers: ManualTimers) => Promise<void>) {
    const timers = new ManualTimers(Date.now());
    const scene = await LoopScene.start({ postgres, timers });
    try {
      await use(scene, timers);
    } finally {
      await scene.end();
    }
  }

  it('attaches a volume for a pod, and detaches it when the pod is gone and the node has unmounted it', async () => {
    await withScene(async (scene) => {
      await addNode(scene, 'a');
      await addVolume(scene, 'data');
      await scene.run(['persistentvolume-attach-detach-controller']);
      await addPod(scene, 'p', 'a', 'data');
      const { metadata, spec } = await attachment(scene, idOf('data', 'a'));
      assert.deepEqual(spec, { attacher: driver, nodeName: 'a', source: { persistentVolumeName: 'pv-data' } });
      await scene.rest();
      await listed(scene, 'a', []);
      await answer(scene, metadata.name ?? '', { attached: true });
      await listed(scene, 'a', [uniqueName('data')]);
      const said = await event(
        scene,
        'p',
        'SuccessfulAttachVolume',
        'AttachVolume.Attach succeeded for volume "pv-data" ',
      );
      assert.deepEqual([said.type, said.source.component], ['Normal', 'attachdetach-controller']);
      await setNode(scene, 'a', { volumesInUse: [uniqueName('data')] });
      await scene.delete('pods', namespace, 'p', { gracePeriodSeconds: 0 });
      await scene.rest();
      await attachment(scene, idOf('data', 'a'));
      await setNode(scene, 'a', { volumesInUse: [] });
      await gone(scene, idOf('data', 'a'));
      await listed(scene, 'a', []);
      assert.deepEqual(scene.logged, []);
    });
  });

  it('attaches a volume for one node at a time, and says for whom the others wait', async () => {
    await withScene(async (scene) => {
      await addNode(scene, 'a');
      await addNode(scene, 'b');
      await addVolume(scene, 'data');
      await addVolume(scene, 'many', 'ReadWriteMany');
      await scene.run(['persistentvolume-attach-detach-controller']);
      await addPod(scene, 'first', 'a', 'data');
      await attachment(scene, idOf('data', 'a'));
      await addPod(scene, 'second', 'b', 'data');
      const text = 'Waiting for detach for volume "pv-data" Volume is already used by pod(s) first';
      await event(scene, 'second', 'FailedAttachVolume', text);
      await scene.delete('pods', namespace, 'first', { gracePeriodSeconds: 0 });
      await gone(scene, idOf('data', 'a'));
      await attachment(scene, idOf('data', 'b'));
      for (const node of ['a', 'b']) await addPod(scene, `many-${node}`, node, 'many');
      for (const node of ['a', 'b']) await attachment(scene, idOf('many', node));
    });
  });

  it('never attaches a volume for two nodes that ask at the same time', async () => {
    await withScene(async (scene) => {
      const nodes = Array.from({ length: 8 }, (_, i) => `n${i}`);
      for (const node of nodes) await addNode(scene, node);
      await addVolume(scene, 'data');
      await Promise.all(nodes.map((node) => addPod(scene, `p-${node}`, node, 'data')));
      await scene.run(['persistentvolume-attach-detach-controller']);
      await scene.until<StoredAttachment, boolean>(attachments, 'one attachment', (all) => all.length > 0);
      const waiting = await scene.until<StoredEvent, StoredEvent[]>('events', 'seven wait', (all) => {
        const found = all.filter(({ reason }) => reason === 'FailedAttachVolume');
        return new Set(found.map(({ involvedObject }) => involvedObject.name)).size === 7 && found;
      });
      assert.ok(waiting.every(({ message }) => message?.startsWith('Waiting for detach for volume "pv-data" ')));
      const count = await scene.until<StoredAttachment, number>(attachments, 'all', (all) => all.length);
      assert.equal(count, 1);
    });
  });

  it('says why a volume is not attached, and reports an attacher that does not answer', async () => {
    await withScene(async (scene, timers) => {
      await addNode(scene, 'a');
      await addVolume(scene, 'data');
      await scene.run(['persistentvolume-attach-detach-controller']);
      await addPod(scene, 'p', 'a', 'data');
      await attachment(scene, idOf('data', 'a'));
      await scene.pass(121_000, timers);
      const silence = `timed out waiting for external-attacher of ${driver} CSI driver to attach volume handle-data`;
      const failed = 'AttachVolume.Attach failed for volume "pv-data" : ';
      await event(scene, 'p', 'FailedAttachVolume', `${failed}${silence}`);
      await answer(scene, idOf('data', 'a'), { attached: false, attachError: { message: 'no such disk' } });
      await event(scene, 'p', 'FailedAttachVolume', `${failed}no such disk`);
    });
  });

  it('leaves out volumes that need no attachment and nodes that do it themselves', async () => {
    await withScene(async (scene) => {
      await addNode(scene, 'a');
      await addNode(scene, 'own', {});
      await scene.create('csidrivers.storage', {
        metadata: { name: driver },
        spec: { attachRequired: false },
      } as object);
      await addVolume(scene, 'free');
      await addVolume(scene, 'disk', 'ReadWriteOnce', {
        csi: undefined,
        awsElasticBlockStore: { volumeID: 'aws://z/vol-1' },
      });
      await scene.run(['persistentvolume-attach-detach-controller']);
      await addPod(scene, 'free', 'a', 'free');
      await addPod(scene, 'own', 'own', 'disk');
      await scene.rest();
      assert.equal(await scene.find(attachments, '', idOf('free', 'a')), undefined);
      const ebs = (node: string) => attachmentName({ driver: 'ebs.csi.aws.com', handle: 'vol-1' }, node);
      assert.equal(await scene.find(attachments, '', ebs('own')), undefined);
      // A volume of an in-tree kind that a CSI driver took over.
      await addPod(scene, 'disk', 'a', 'disk');
      const { spec } = await attachment(scene, ebs('a'));
      assert.deepEqual([spec.attacher, spec.source.persistentVolumeName], ['ebs.csi.aws.com', 'pv-disk']);
    });
  });

  it('detaches from a node that is down: after six minutes, or at once when it is out of service', async () => {
    await withScene(async (scene, timers) => {
      for (const [node, volume] of [
        ['late', 'one'],
        ['out', 'two'],
      ] as const) {
        await addNode(scene, node);
        await addVolume(scene, volume);
        await addPod(scene, `p-${node}`, node, volume);
      }
      await scene.run(['persistentvolume-attach-detach-controller']);
      for (const [node, volume] of [
        ['late', 'one'],
        ['out', 'two'],
      ] as const) {
        await attachment(scene, idOf(volume, node));
        await answer(scene, idOf(volume, node), { attached: true });
        await listed(scene, node, [uniqueName(volume)]);
        await setNode(scene, node, {
          volumesInUse: [uniqueName(volume)],
          conditions: [{ type: 'Ready', status: 'Unknown' }],
        });
        await scene.delete('pods', namespace, `p-${node}`, { gracePeriodSeconds: 0 });
      }
      await scene.pass(300_000, timers);
      await attachment(scene, idOf('one', 'late'));
      await attachment(scene, idOf('two', 'out'));
      await scene.update<StoredNode>('nodes', '', 'out', (live) => {
        const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
        live.spec = { ...live.spec, taints: [taint] } as StoredNode['spec'];
      });
      await gone(scene, idOf('two', 'out'));
      await scene.pass(61_000, timers);
      await gone(scene, idOf('one', 'late'));
    });
  });

  it('detaches what a loop before it attached, also when node and volume are gone', async () => {
    await withScene(async (scene) => {
      await addNode(scene, 'a');
      for (const name of ['data', 'lost']) await addVolume(scene, name);
      const first = await scene.run(['persistentvolume-attach-detach-controller']);
      for (const name of ['data', 'lost']) {
        await addPod(scene, `p-${name}`, 'a', name);
        await attachment(scene, idOf(name, 'a'));
        await answer(scene, idOf(name, 'a'), { attached: true });
      }
      await scene.rest();
      await first.stop();
      for (const name of ['data', 'lost'])
        await scene.delete('pods', namespace, `p-${name}`, { gracePeriodSeconds: 0 });
      await scene.delete('persistentvolumes', '', 'pv-lost');
      await scene.run(['persistentvolume-attach-detach-controller']);
      await gone(scene, idOf('data', 'a'));
      await gone(scene, idOf('lost', 'a'));
    });
  });
});

describe('decideDetach', () => {
  const table: [string, boolean, boolean, boolean, number, string][] = [
    ['unmounted', false, true, false, 0, 'safely'],
    ['mounted on a healthy node, however long', true, true, false, longestUnmountMs + 1, 'wait'],
    ['mounted on a silent node', true, false, false, longestUnmountMs, 'wait'],
    ['mounted on a node that is silent for long', true, false, false, longestUnmountMs + 1, 'by force'],
    ['mounted on a node out of service', true, false, true, 0, 'by force'],
  ];
  for (const [title, isInUse, isHealthy, isOutOfService, unneededMs, kind] of table) {
    it(`decides: ${title}`, () => {
      assert.equal(decideDetach({ isInUse, isHealthy, isOutOfService, unneededMs }).kind, kind);
    });
  }
});
