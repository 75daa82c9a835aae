import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { StoredClaim, StoredVolume } from '../../scheduler/volumes.js';
import { reservedMs } from './match-volume.js';

const claims = 'persistentvolumeclaims';
const volumes = 'persistentvolumes';
const by = 'pv.kubernetes.io/bound-by-controller';
const completed = 'pv.kubernetes.io/bind-completed';
const byName = ({ metadata: a }: StoredClaim | StoredVolume, { metadata: b }: StoredClaim | StoredVolume) =>
  (a.name ?? '') < (b.name ?? '') ? -1 : 1;

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

/** Volumes and claims of a scene. */
class Storeroom {
  constructor(readonly scene: LoopScene) {}

  claim(name: string, storageClassName: string | undefined, size = '1Gi', rest: object = {}, annotations: object = {}) {
    return this.scene.create<StoredClaim>(claims, {
      metadata: { name, namespace: 'default', annotations },
      spec: {
        accessModes: ['ReadWriteOnce'],
        ...(storageClassName === undefined ? {} : { storageClassName }),
        resources: { requests: { storage: size } },
        ...rest,
      },
    } as object);
  }

  volume(name: string, storageClassName: string, size = '1Gi', rest: object = {}, annotations: object = {}) {
    return this.scene.create<StoredVolume>(volumes, {
      metadata: { name, annotations },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: size },
        hostPath: { path: '/x' },
        storageClassName,
        ...rest,
      },
    } as object);
  }

  storageClass(name: string, provisioner: string, rest: object = {}, annotations: object = {}) {
    return this.scene.create('storageclasses.storage', {
      metadata: { name, annotations },
      provisioner,
      ...rest,
    } as object);
  }

  claimIs(name: string, phase: string, look: (claim: StoredClaim) => unknown = () => true): Promise<StoredClaim> {
    return this.scene.until<StoredClaim, StoredClaim>(claims, `claim ${name} is ${phase}`, (all) =>
      all.find((one) => one.metadata.name === name && one.status.phase === phase && look(one)),
    );
  }

  volumeIs(name: string, phase: string): Promise<StoredVolume> {
    return this.scene.until<StoredVolume, StoredVolume>(volumes, `volume ${name} is ${phase}`, (all) =>
      all.find(({ metadata, status }) => metadata.name === name && status.phase === phase),
    );
  }

  async event(reason: string, about: string): Promise<string> {
    return this.scene.until<Event & StoredClaim, string>('events', `${reason} about ${about}`, (all) => {
      const found = all.find((event) => event.reason === reason && event.involvedObject.name === about);
      return found && `${found.type} ${found.source?.component}: ${found.message}`;
    });
  }

  /** Which volume each claim has; checks that both sides agree and that nothing is bound twice. */
  async bound(count: number): Promise<Map<string, string>> {
    const found = await this.scene.until<StoredClaim, StoredClaim[]>(claims, `${count} bound claims`, (all) => {
      const ready = all.filter(({ status }) => status.phase === 'Bound');
      return ready.length >= count && ready.sort(byName);
    });
    const partner = new Map<string, string>();
    for (const { metadata, spec } of found) {
      const volume = await this.scene.get<StoredVolume>(volumes, '', spec.volumeName as string);
      assert.equal(volume.spec.claimRef?.uid, metadata.uid);
      assert.equal(volume.status.phase, 'Bound');
      partner.set(metadata.name as string, spec.volumeName as string);
    }
    assert.equal(new Set(partner.values()).size, partner.size, 'a volume has two claims');
    return partner;
  }
}

const prefix = 'Normal persistentvolume-controller: ';
const warning = 'Warning persistentvolume-controller: ';

describe('the binder of claims and volumes', () => {
  let scene: LoopScene;
  let room: Storeroom;

  before(async () => {
    scene = await LoopScene.start({ postgres });
    room = new Storeroom(scene);
    await scene.run(['persistentvolume-binder', 'pv-protection', 'pvc-protection']);
  });
  after(() => scene.end());

  it('offers a new volume and gives it to a claim that comes later', async () => {
    await room.volume('first', 'one', '2Gi');
    const { status } = await room.volumeIs('first', 'Available');
    assert.ok(status.lastPhaseTransitionTime);
    await room.claim('first', 'one');
    const claim = await room.claimIs('first', 'Bound');
    assert.deepEqual(claim.status, { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } });
    assert.equal(claim.spec.volumeName, 'first');
    assert.deepEqual(claim.metadata.annotations, { [completed]: 'yes', [by]: 'yes' });
    const { spec, metadata } = await room.volumeIs('first', 'Bound');
    const { resourceVersion, ...reference } = spec.claimRef ?? {};
    assert.ok(resourceVersion);
    assert.deepEqual(reference, {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      namespace: 'default',
      name: 'first',
      uid: claim.metadata.uid,
    });
    assert.deepEqual(metadata.annotations, { [by]: 'yes' });
  });

  it('gives a waiting claim the volume that comes later', async () => {
    await room.claim('early', 'later');
    assert.equal(
      await room.event('ProvisioningFailed', 'early'),
      `${warning}storageclass.storage.k8s.io "later" not found`,
    );
    await room.volume('late', 'later');
    await room.claimIs('early', 'Bound');
  });

  it('keeps a new volume from claims that waited for any, for two seconds', () => {
    const made = (creationTimestamp: string) => ({ metadata: { creationTimestamp } });
    const volume = made('2026-01-01T00:00:05Z') as StoredVolume;
    const now = Date.parse('2026-01-01T00:00:06Z');
    for (const [creationTimestamp, at, left] of [
      ['2026-01-01T00:00:04Z', now, 1000],
      ['2026-01-01T00:00:04Z', now - 60_000, 2000],
      ['2026-01-01T00:00:04Z', now + 1000, 0],
      ['2026-01-01T00:00:05Z', now, 0],
      ['2026-01-01T00:00:06Z', now, 0],
    ] as const) {
      const rest = reservedMs(volume, made(creationTimestamp) as StoredClaim, at);
      assert.equal(Math.max(rest, 0), left, `${creationTimestamp} ${at}`);
    }
  });

  it('takes the smallest volume that fits, with the fewest access modes', async () => {
    await room.volume('s-10', 'sizes', '10Gi');
    await room.volume('s-3', 'sizes', '3Gi');
    await room.volume('s-1', 'sizes', '1Gi');
    await room.volume('s-2-many', 'sizes', '2Gi', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] });
    await Promise.all(['s-10', 's-3', 's-1', 's-2-many'].map((name) => room.volumeIs(name, 'Available')));
    await room.claim('two', 'sizes', '2Gi');
    assert.equal((await room.claimIs('two', 'Bound')).spec.volumeName, 's-3');
    await room.claim('many', 'sizes', '1Gi', { accessModes: ['ReadWriteMany'] });
    assert.equal((await room.claimIs('many', 'Bound')).spec.volumeName, 's-2-many');
  });

  it('passes by volumes of other labels, modes and classes', async () => {
    await room.volume('raw', 'picky', '5Gi', { volumeMode: 'Block' });
    await room.volume('plain', 'picky', '5Gi');
    await room.volumeIs('raw', 'Available');
    await room.volumeIs('plain', 'Available');
    await room.claim('block', 'picky', '1Gi', { volumeMode: 'Block' });
    assert.equal((await room.claimIs('block', 'Bound')).spec.volumeName, 'raw');
    await room.claim('labelled', 'picky', '1Gi', { selector: { matchLabels: { disk: 'fast' } } });
    await room.event('ProvisioningFailed', 'labelled');
    await room.claim('classless', '', '1Gi');
    assert.equal(
      await room.event('FailedBinding', 'classless'),
      `${prefix}no persistent volumes available for this claim and no storage class is set`,
    );
    assert.equal((await room.claimIs('labelled', 'Pending')).spec.volumeName, undefined);
    await scene.update(volumes, '', 'plain', ({ metadata }) => {
      metadata.labels = { disk: 'fast' };
    });
    assert.equal((await room.claimIs('labelled', 'Bound')).spec.volumeName, 'plain');
  });

  it('binds what names the other, from either side', async () => {
    await room.volume('wanted', 'named', '5Gi');
    await room.volume('other', 'named', '1Gi');
    await room.volumeIs('other', 'Available');
    await room.claim('by-name', 'named', '1Gi', { volumeName: 'wanted' });
    const claim = await room.claimIs('by-name', 'Bound');
    assert.equal(claim.spec.volumeName, 'wanted');
    assert.deepEqual(claim.metadata.annotations, { [completed]: 'yes' });

    await room.volume('reserved', 'named', '9Gi', { claimRef: { namespace: 'default', name: 'expected' } });
    await room.volumeIs('reserved', 'Available');
    await room.claim('expected', 'named');
    assert.equal((await room.claimIs('expected', 'Bound')).spec.volumeName, 'reserved');
    const { metadata } = await room.volumeIs('reserved', 'Bound');
    assert.equal(metadata.annotations?.[by], undefined);
  });

  it('says why a claim can not have the volume that it names', async () => {
    await room.volume('small', 'strict');
    await room.volumeIs('small', 'Available');
    await room.claim('big', 'strict', '2Gi', { volumeName: 'small' });
    assert.equal(
      await room.event('VolumeMismatch', 'big'),
      `${warning}Cannot bind to requested volume "small": requested PV is too small`,
    );
    await room.claim('owner', 'strict', '1Gi', { volumeName: 'small' });
    await room.claimIs('owner', 'Bound');
    await room.claim('second', 'strict', '1Gi', { volumeName: 'small' });
    assert.equal(
      await room.event('FailedBinding', 'second'),
      `${warning}volume "small" already bound to a different claim.`,
    );
    await room.claimIs('second', 'Pending');
    await room.claim('nowhere', 'strict', '1Gi', { volumeName: 'comes-later' });
    await room.volume('comes-later', 'strict');
    await room.claimIs('nowhere', 'Bound');
  });

  it('releases the volume of a claim that is gone, and keeps it', async () => {
    await room.volume('kept', 'keep');
    await room.claim('leaves', 'keep');
    await room.claimIs('leaves', 'Bound');
    await scene.delete(claims, 'default', 'leaves');
    const { spec } = await room.volumeIs('kept', 'Released');
    assert.equal(spec.claimRef?.name, 'leaves');
    // A new claim of the same name is a different claim.
    await room.claim('leaves', 'keep');
    await room.event('ProvisioningFailed', 'leaves');
    await room.volumeIs('kept', 'Released');
    // The administrator makes the volume available again.
    await scene.update<StoredVolume>(volumes, '', 'kept', (live) => {
      delete live.spec.claimRef;
    });
    await room.claimIs('leaves', 'Bound');
  });

  it('leaves deleting to who made the volume, and says when nobody can', async () => {
    const policy = { persistentVolumeReclaimPolicy: 'Delete' };
    await room.volume('made', 'gone', '1Gi', policy, { 'pv.kubernetes.io/provisioned-by': 'example.com/disks' });
    await room.volume('found', 'gone', '2Gi', policy);
    await room.volume('emptied', 'gone', '3Gi', { persistentVolumeReclaimPolicy: 'Recycle' });
    for (const [name, size] of [
      ['made', '1Gi'],
      ['found', '2Gi'],
      ['emptied', '3Gi'],
    ] as const) {
      await room.volumeIs(name, 'Available');
      await room.claim(`of-${name}`, 'gone', size, { volumeName: name });
      await room.claimIs(`of-${name}`, 'Bound');
    }
    for (const name of ['made', 'found', 'emptied']) await scene.delete(claims, 'default', `of-${name}`);
    await room.volumeIs('made', 'Released');
    const text = 'error getting deleter volume plugin for volume "found": no deletable volume plugin matched';
    assert.equal((await room.volumeIs('found', 'Failed')).status.message, text);
    assert.equal(await room.event('VolumeFailedDelete', 'found'), `${warning}${text}`);
    await room.volumeIs('emptied', 'Failed');
    assert.equal(
      await room.event('VolumeFailedRecycle', 'emptied'),
      `${warning}No recycler plugin found for the volume!`,
    );
    assert.equal((await scene.get<StoredVolume>(volumes, '', 'made')).status.phase, 'Released');
  });

  it('calls a claim lost whose volume is gone', async () => {
    await room.volume('breaks', 'loss');
    await room.claim('loser', 'loss');
    await room.claimIs('loser', 'Bound');
    await scene.update<StoredVolume>(volumes, '', 'breaks', ({ metadata }) => {
      metadata.finalizers = [];
    });
    await scene.delete(volumes, '', 'breaks');
    // Another loop writes the condition that no pod uses the claim.
    const { conditions: _conditions, ...status } = (await room.claimIs('loser', 'Lost')).status;
    assert.deepEqual(status, { phase: 'Lost' });
    assert.equal(
      await room.event('ClaimLost', 'loser'),
      `${warning}Bound claim has lost its PersistentVolume. Data on the volume is lost!`,
    );
    await room.volume('breaks', 'loss');
    await room.claimIs('loser', 'Bound');
  });

  it('frees a volume whose claim has another one', async () => {
    await room.volume('mine', 'twice');
    await room.claim('owns', 'twice');
    const { metadata } = await room.claimIs('owns', 'Bound');
    const claimRef = {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      namespace: 'default',
      name: 'owns',
      uid: metadata.uid,
    };
    await room.volume('spare', 'twice', '1Gi', { claimRef }, { [by]: 'yes' });
    const { spec, metadata: freed } = await room.volumeIs('spare', 'Available');
    assert.equal(spec.claimRef, undefined);
    assert.equal(freed.annotations?.[by], undefined);
  });

  it('waits for the first pod where the class says so', async () => {
    await room.storageClass('local', 'kubernetes.io/no-provisioner', { volumeBindingMode: 'WaitForFirstConsumer' });
    await room.volume('disk', 'local');
    await room.volumeIs('disk', 'Available');
    await room.claim('waits', 'local');
    assert.equal(
      await room.event('WaitForFirstConsumer', 'waits'),
      `${prefix}waiting for first consumer to be created before binding`,
    );
    await room.volumeIs('disk', 'Available');
    // The scheduler chose the volume.
    const { metadata } = await scene.get(claims, 'default', 'waits');
    await scene.update<StoredVolume>(volumes, '', 'disk', ({ spec }) => {
      const { name, namespace, uid } = metadata;
      spec.claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid };
    });
    await room.claimIs('waits', 'Bound');
    await room.volumeIs('disk', 'Bound');
  });

  it('asks external provisioners, at once or when the node is known', async () => {
    const asked = { 'volume.kubernetes.io/storage-provisioner': 'example.com/disks' };
    const beta = { 'volume.beta.kubernetes.io/storage-provisioner': 'example.com/disks' };
    const isAsked = ({ metadata }: StoredClaim) =>
      Object.entries({ ...asked, ...beta }).every(([key, value]) => metadata.annotations?.[key] === value);
    await room.storageClass('made', 'example.com/disks');
    await room.claim('now', 'made');
    await room.claimIs('now', 'Pending', isAsked);
    assert.match(
      await room.event('ExternalProvisioning', 'now'),
      /^Normal persistentvolume-controller: Waiting for a volume to be created either by the external provisioner 'example\.com\/disks' or manually by the system administrator\. /,
    );
    await room.storageClass('made-later', 'example.com/disks', { volumeBindingMode: 'WaitForFirstConsumer' });
    await room.claim('then', 'made-later');
    await room.event('WaitForFirstConsumer', 'then');
    await scene.update(claims, 'default', 'then', ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'volume.kubernetes.io/selected-node': 'a' };
    });
    const { metadata } = await room.claimIs('then', 'Pending', isAsked);
    const { name, namespace, uid } = metadata;
    await room.volume('pvc-then', 'made-later', '1Gi', {
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid },
    });
    await room.claimIs('then', 'Bound');
    await room.storageClass('cloud', 'kubernetes.io/aws-ebs');
    await room.claim('moved', 'cloud');
    assert.match(await room.event('ExternalProvisioning', 'moved'), /'ebs\.csi\.aws\.com'/);
    await room.storageClass('unmade', 'kubernetes.io/no-provisioner');
    await room.claim('hopeless', 'unmade');
    assert.equal(
      await room.event('ProvisioningFailed', 'hopeless'),
      `${warning}no volume plugin matched name: kubernetes.io/no-provisioner`,
    );
  });

  it('gives older claims the default class', async () => {
    await room.claim('old', undefined);
    await room.event('FailedBinding', 'old');
    await room.storageClass(
      'usual',
      'example.com/disks',
      {},
      { 'storageclass.kubernetes.io/is-default-class': 'true' },
    );
    const { spec } = await room.claimIs('old', 'Pending', (claim) => claim.spec.storageClassName !== undefined);
    assert.equal(spec.storageClassName, 'usual');
    await room.event('ExternalProvisioning', 'old');
    assert.deepEqual(scene.logged, []);
  });
});

describe('two binders', () => {
  const count = 60;

  it('bind each claim once when they work at the same time', async () => {
    const scene = await LoopScene.start({ postgres });
    const room = new Storeroom(scene);
    try {
      await scene.run(['persistentvolume-binder']);
      await scene.run(['persistentvolume-binder']);
      const each = (make: (name: string) => Promise<unknown>) =>
        Promise.all(Array.from({ length: count }, (_, i) => make(`x-${i}`)));
      await Promise.all([each((name) => room.claim(name, 'c')), each((name) => room.volume(name, 'c'))]);
      assert.equal((await room.bound(count)).size, count);
      assert.deepEqual(scene.logged, []);
    } finally {
      await scene.end();
    }
  });

  it('lose nothing when one is stopped in the middle and another one goes on', async () => {
    const scene = await LoopScene.start({ postgres });
    const room = new Storeroom(scene);
    try {
      for (let i = 0; i < count; i++) {
        await room.claim(`x-${i}`, 'c');
        await room.volume(`x-${i}`, 'c');
      }
      const first = await scene.run(['persistentvolume-binder']);
      await scene.until<StoredClaim, true>(claims, 'some are bound', (all) =>
        all.filter(({ status }) => status.phase === 'Bound').length > 5 ? true : undefined,
      );
      await first.stop();
      await scene.run(['persistentvolume-binder']);
      assert.equal((await room.bound(count)).size, count);
    } finally {
      await scene.end();
    }
  });
});
