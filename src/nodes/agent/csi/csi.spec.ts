import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { CSIDriver } from '../../../objects/apis/storage/v1/csi-driver.types.js';
import { PodFolders } from '../pod-folders.js';
import { CsiFolders, removeData, writeData } from './csi-folders.js';
import { infoResponse, publishRequest } from './csi-messages.js';
import { describeDriver } from './csi-node.js';
import { CsiObjects } from './csi-objects.js';
import { checkLifecycle, inlineCsiVolume, isGivenToGroup, persistentCsiVolume, podInfo } from './csi-volume.js';
import { pluginProblem } from './plugin-registry.js';
import { Turns } from './turns.js';
import { amountsOf } from './volume-statistics.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';
const pod = { metadata: { name: 'web', namespace: 'default', uid }, spec: { serviceAccountName: 'own' } } as Pod;
const inline = inlineCsiVolume(pod, { name: 'v', csi: { driver: 'a.example', fsType: 'ext4' } } as never);

function claimed(spec: object, capacity = '1Gi') {
  const csi = { driver: 'a.example', volumeHandle: 'h', fsType: 'ext4' };
  const volume = { metadata: { name: 'pv' }, spec: { csi, capacity: { storage: '1Gi' }, ...spec } };
  const claim = { metadata: { name: 'c' }, spec: {}, status: { capacity: { storage: capacity } } };
  return { volume: volume as unknown as PersistentVolume, claim: claim as unknown as PersistentVolumeClaim };
}

const driverWith = (spec: object) => ({ metadata: {}, spec }) as unknown as CSIDriver;

describe('volumes of drivers', () => {
  it('have a handle of their own when only a pod has them', () => {
    assert.match(inline.source.handle, /^csi-[0-9a-f]{64}$/);
    assert.deepEqual([inline.specName, inline.lifecycle, inline.accessModes], ['v', 'Ephemeral', ['ReadWriteOnce']]);
  });

  it('grow when the claim does not have the size of its volume yet', () => {
    assert.equal(persistentCsiVolume(pod, 'v', claimed({ capacity: { storage: '2Gi' } }), false).growTo, '2Gi');
    assert.equal(persistentCsiVolume(pod, 'v', claimed({}, '1024Mi'), false).growTo, undefined);
  });

  it('are only for pods that their driver is for', () => {
    assert.throws(
      () => checkLifecycle(inline, undefined),
      /"Ephemeral" not supported by driver a.example \(no CSIDriver/,
    );
    const persistent = driverWith({ volumeLifecycleModes: ['Persistent'] });
    assert.throws(() => checkLifecycle(inline, persistent), /only supports \["Persistent"\]/);
    checkLifecycle(inline, driverWith({ volumeLifecycleModes: ['Persistent', 'Ephemeral'] }));
    checkLifecycle(persistentCsiVolume(pod, 'v', claimed({}), false), undefined);
  });

  it('are given to the group of the pod as their driver wants it', () => {
    const of = (spec: object, isReadOnly = false) => persistentCsiVolume(pod, 'v', claimed(spec), isReadOnly);
    const once = { accessModes: ['ReadWriteOnce'] };
    const cases = [
      [of(once), undefined, true],
      [of({ accessModes: ['ReadWriteMany'] }), undefined, false],
      [of({ accessModes: ['ReadWriteMany'] }), 'File', true],
      [of(once), 'None', false],
      [of(once, true), 'File', false],
      [of({ ...once, volumeMode: 'Block' }), 'File', false],
      [inline, undefined, true],
    ] as const;
    for (const [volume, fsGroupPolicy, wanted] of cases) {
      const driver = fsGroupPolicy === undefined ? undefined : driverWith({ fsGroupPolicy });
      assert.equal(isGivenToGroup(volume, driver), wanted, `${volume.accessModes} ${fsGroupPolicy}`);
    }
  });

  it('come with what the driver is told of the pod', () => {
    const info = podInfo(pod, 'Persistent');
    assert.equal(info['csi.storage.k8s.io/serviceAccount.name'], 'own');
    assert.equal(info['csi.storage.k8s.io/ephemeral'], 'false');
  });
});

describe('what drivers are told', () => {
  it('has tokens of the pod in the context, or among the secrets if the driver wants that', async () => {
    const answer = { token: 't', expirationTimestamp: '2030-01-01T00:00:00Z' };
    const objects = new CsiObjects({
      tokens: { issue: async () => answer },
      objects: { secret: async () => ({ data: { word: Buffer.from('hush').toString('base64') } }) },
    } as never);
    const volume = { ...inline, publishSecret: { namespace: 'default', name: 's' } };
    const wants = { tokenRequests: [{ audience: 'b' }, { audience: 'a' }] };
    const tokens = { 'csi.storage.k8s.io/serviceAccount.tokens': JSON.stringify({ a: answer, b: answer }) };
    assert.deepEqual(await objects.publishWords(volume, driverWith(wants)), {
      volumeContext: tokens,
      secrets: { word: 'hush' },
    });
    const inSecrets = await objects.publishWords(volume, driverWith({ ...wants, serviceAccountTokenInSecrets: true }));
    assert.deepEqual(inSecrets, { volumeContext: {}, secrets: { word: 'hush', ...tokens } });
  });
});

describe('CsiFolders', () => {
  it('finds what was written down of volumes, and nothing that cannot be used', async () => {
    const root = await fs.mkdtemp(join(tmpdir(), 'plinth-csi-'));
    try {
      const folders = new CsiFolders(root, new PodFolders(root, join(root, 'logs')));
      const target = folders.target(uid, 'pv');
      const staging = folders.staging({ driver: 'a.example', handle: 'h' });
      assert.equal(target, join(root, 'pods', uid, 'volumes/kubernetes.io~csi/pv/mount'));
      const digest = 'aaa9402664f1a41f40ebbc52c9993eb66aeb366602958fdfaa283b71e64db123';
      assert.equal(staging, join(root, 'plugins/kubernetes.io/csi/a.example', digest, 'globalmount'));
      const data = { volumeHandle: 'h', driverName: 'a.example', specVolID: 'pv' };
      await writeData(dirname(target), data);
      await writeData(dirname(staging), data);
      await writeData(folders.blockData('raw'), { ...data, specVolID: 'raw' });
      await fs.mkdir(join(root, 'pods', uid, 'volumes/kubernetes.io~csi/broken'));
      await fs.writeFile(join(root, 'pods', uid, 'volumes/kubernetes.io~csi/broken/vol_data.json'), '{');
      assert.deepEqual(await folders.ofPods(), [{ path: target, data, isBlock: false }]);
      const staged = (await folders.staged()).map(({ path, isBlock }) => [path, isBlock]);
      assert.deepEqual(staged, [
        [staging, false],
        [folders.blockStaging('raw'), true],
      ]);
      // Files at the target path of the volume are never removed.
      await fs.mkdir(target);
      await assert.rejects(removeData(dirname(target)), { code: 'ENOTEMPTY' });
      assert.throws(() => folders.target(uid, '../up'), /can't be a name of a folder/);
      assert.throws(() => folders.staging({ driver: '..', handle: 'h' }), /can't be a name of a folder/);
    } finally {
      await fs.rm(root, { recursive: true, force: true });
    }
  });
});

describe('registration of drivers', () => {
  const info = { type: 'CSIPlugin', name: 'a.example', endpoint: '', supportedVersions: ['1.0.0'] };

  it('takes drivers of a known version, and says what is wrong with others', () => {
    assert.equal(pluginProblem(info, '/s'), undefined);
    assert.equal(pluginProblem({ ...info, supportedVersions: ['0.3.0', 'v1.2'] }, '/s'), undefined);
    assert.match(
      pluginProblem({ ...info, type: 'DRAPlugin' }, '/s') ?? '',
      /no handler registered for plugin type: DRA/,
    );
    assert.match(pluginProblem({ ...info, supportedVersions: ['2.0.0'] }, '/s') ?? '', /None of the versions/);
    assert.match(pluginProblem({ ...info, supportedVersions: [] }, '/s') ?? '', /None of the versions/);
    assert.match(pluginProblem({ ...info, name: '../up' }, '/s') ?? '', /is not a name of a driver/);
  });

  it('describes them in the form of a CSINode', () => {
    const answer = infoResponse.decode(
      infoResponse.encode({ nodeId: 'n', maxVolumesPerNode: 3, accessibleTopology: { segments: { z: '1', a: '2' } } }),
    );
    const described = { name: 'd', nodeID: 'n', topologyKeys: ['a', 'z'], allocatable: { count: 3 } };
    assert.deepEqual(describeDriver('d', answer), described);
    const without = infoResponse.decode(infoResponse.encode({ nodeId: 'n' }));
    assert.deepEqual(describeDriver('d', without), { name: 'd', nodeID: 'n', topologyKeys: [] });
  });
});

describe('messages of drivers', () => {
  it('have the numbers of the interface', () => {
    const request = { volumeId: 'v', readonly: true, volumeCapability: { block: {}, accessMode: { mode: 1 } } };
    assert.equal(publishRequest.encode(request).toString('hex'), '0a01762a060a001a0208013001');
  });

  it('are read as amounts of the summary', () => {
    const usage = [
      { available: 1, total: 3, used: 2, unit: 1 },
      { available: 4, total: 9, used: 5, unit: 2 },
      { available: 7, total: 7, used: 7, unit: 0 },
    ];
    assert.deepEqual(amountsOf({ usage }), {
      ...{ availableBytes: 1, capacityBytes: 3, usedBytes: 2, inodesFree: 4, inodes: 9, inodesUsed: 5 },
    });
  });
});

describe('Turns', () => {
  it('does work about the same thing in order, also after a failure, and other work at once', async () => {
    const turns = new Turns();
    const done: string[] = [];
    let go = () => {};
    const first = turns.take('a', async () => {
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      done.push('a1');
      throw new Error('broken');
    });
    const second = turns.take('a', async () => void done.push('a2'));
    await turns.take('b', async () => void done.push('b'));
    go();
    await assert.rejects(first, /broken/);
    await second;
    assert.deepEqual(done, ['b', 'a1', 'a2']);
  });
});
