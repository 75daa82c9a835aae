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
  let storeroom: Storeroom;

  before(async () => {
    scene = await LoopScene.start({ postgres });
    storeroom = new Storeroom(scene);
    await scene.run(['persistentvolume-binder', 'pv-protection', 'pvc-protection']);
  });
  after(() => scene.end());

  it('offers a new volume and gives it to a claim that comes later', async () => {
    await storeroom.volume('first', 'one', '2Gi');
    const { status } = await storeroom.volumeIs('first', 'Available');
    assert.ok(status.lastPhaseTransitionTime);
    await storeroom.claim('first', 'one');
    const claim = await storeroom.claimIs('first', 'Bound');
    // The protection of claims adds a condition, now or later.
    const { conditions: _conditions, ...bound } = claim.status as StoredClaim['status'] & { conditions?: unknown };
    assert.deepEqual(bound, { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } });
    assert.equal(claim.spec.volumeName, 'first');
    assert.deepEqual(claim.metadata.annotations, { [completed]: 'yes', [by]: 'yes' });
    const { spec, metadata } = await storeroom.volumeIs('first', 'Bound');
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
    await storeroom.claim('early', 'later');
    assert.equal(
      await storeroom.event('ProvisioningFailed', 'early'),
      `${warning}storageclass.storage.k8s.io "later" not found`,
    );
    await storeroom.volume('late', 'later');
    await storeroom.claimIs('early', 'Bound');
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
    await storeroom.volume('s-10', 'sizes', '10Gi');
    await storeroom.volume('s-3', 'sizes', '3Gi');
    await storeroom.volume('s-1', 'sizes', '1Gi');
    await storeroom.volume('s-2-many', 'sizes', '2Gi', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] });
    await Promise.all(['s-10', 's-3', 's-1', 's-2-many'].map((name) => storeroom.volumeIs(name, 'Available')));
    await storeroom.claim('two', 'sizes', '2Gi');
    assert.equal((await storeroom.claimIs('two', 'Bound')).spec.volumeName, 's-3');
    await storeroom.claim('many', 'sizes', '1Gi', { accessModes: ['ReadWriteMany'] });
    assert.equal((await storeroom.claimIs('many', 'Bound')).spec.volumeName, 's-2-many');
  });

  it('passes by volumes of other labels, modes and classes', async () => {
    await storeroom.volume('raw', 'picky', '5Gi', { volumeMode: 'Block' });
    await storeroom.volume('plain', 'picky', '5Gi');
    await storeroom.volumeIs('raw', 'Available');
    await storeroom.volumeIs('plain', 'Available');
    await storeroom.claim('block', 'picky', '1Gi', { volumeMode: 'Block' });
    assert.equal((await storeroom.claimIs('block', 'Bound')).spec.volumeName, 'raw');
    await storeroom.claim('labelled', 'picky', '1Gi', { selector: { matchLabels: { disk: 'fast' } } });
    await storeroom.event('ProvisioningFailed', 'labelled');
    await storeroom.claim('classless', '', '1Gi');
    assert.equal(
      await storeroom.event('FailedBinding', 'classless'),
      `${prefix}no persistent volumes available for this claim and no storage class is set`,
    );
    assert.equal((await storeroom.claimIs('labelled', 'Pending')).spec.volumeName, undefined);
    await scene.update(volumes, '', 'plain', ({ metadata }) => {
      metadata.labels = { disk: 'fast' };
    });
    assert.equal((await storeroom.claimIs('labelled', 'Bound')).spec.volumeName, 'plain');
  });

  it('binds what names the other, from either side', async () => {
    await storeroom.volume('wanted', 'named', '5Gi');
    await storeroom.volume('other', 'named', '1Gi');
    await storeroom.volumeIs('other', 'Available');
    await storeroom.claim('by-name', 'named', '1Gi', { volumeName: 'wanted' });
    const claim = await storeroom.claimIs('by-name', 'Bound');
    assert.equal(claim.spec.volumeName, 'wanted');
    assert.deepEqual(claim.metadata.annotations, { [completed]: 'yes' });

    await storeroom.volume('reserved', 'named', '9Gi', { claimRef: { namespace: 'default', name: 'expected' } });
    await storeroom.volumeIs('reserved', 'Available');
    await storeroom.claim('expected', 'named');
    assert.equal((await storeroom.claimIs('expected', 'Bound')).spec.volumeName, 'reserved');
    const { metadata } = await storeroom.volumeIs('reserved', 'Bound');
    assert.equal(metadata.annotations?.[by], undefined);
  });

  it('says why a claim can not have the volume that it names', async () => {
    await storeroom.volume('small', 'strict');
    await storeroom.volumeIs('small', 'Available');
    await storeroom.claim('big', 'strict', '2Gi', { volumeName: 'small' });
    assert.equal(
      await storeroom.event('VolumeMismatch', 'big'),
      `${warning}Cannot bind to requested volume "small": requested PV is too small`,
    );
    await storeroom.claim('owner', 'strict', '1Gi', { volumeName: 'small' });
    await storeroom.claimIs('owner', 'Bound');
    await storeroom.claim('second', 'strict', '1Gi', { volumeName: 'small' });
    assert.equal(
      await storeroom.event('FailedBinding', 'second'),
      `${warning}volume "small" already bound to a different claim.`,
    );
    await storeroom.claimIs('second', 'Pending');
    await storeroom.claim('nowhere', 'strict', '1Gi', { volumeName: 'comes-later' });
    await storeroom.volume('comes-later', 'strict');
    await storeroom.claimIs('nowhere', 'Bound');
  });

  it('releases the volume of a claim that is gone, and keeps it', async () => {
    await storeroom.volume('kept', 'keep');
    await storeroom.claim('leaves', 'keep');
    await storeroom.claimIs('leaves', 'Bound');
    await scene.delete(claims, 'default', 'leaves');
    const { spec } = await storeroom.volumeIs('kept', 'Released');
    assert.equal(spec.claimRef?.name, 'leaves');
    // A new claim of the same name is a different claim.
    await storeroom.claim('leaves', 'keep');
    await storeroom.event('ProvisioningFailed', 'leaves');
    await storeroom.volumeIs('kept', 'Released');
    // The administrator makes the volume available again.
    await scene.update<StoredVolume>(volumes, '', 'kept', (live) => {
      delete live.spec.claimRef;
    });
    await storeroom.claimIs('leaves', 'Bound');
  });

  it('leaves deleting to who made the volume, and says when nobody can', async () => {
    const policy = { persistentVolumeReclaimPolicy: 'Delete' };
    await storeroom.volume('made', 'gone', '1Gi', policy, { 'pv.kubernetes.io/provisioned-by': 'example.com/disks' });
    await storeroom.volume('found', 'gone', '2Gi', policy);
    await storeroom.volume('emptied', 'gone', '3Gi', { persistentVolumeReclaimPolicy: 'Recycle' });
    for (const [name, size] of [
      ['made', '1Gi'],
      ['found', '2Gi'],
      ['emptied', '3Gi'],
    ] as const) {
      await storeroom.volumeIs(name, 'Available');
      await storeroom.claim(`of-${name}`, 'gone', size, { volumeName: name });
      await storeroom.claimIs(`of-${name}`, 'Bound');
    }
    for (const name of ['made', 'found', 'emptied']) await scene.delete(claims, 'default', `of-${name}`);
    await storeroom.volumeIs('made', 'Released');
    const text = 'error getting deleter volume plugin for volume "found": no deletable volume plugin matched';
    assert.equal((await storeroom.volumeIs('found', 'Failed')).status.message, text);
    assert.equal(await storeroom.event('VolumeFailedDelete', 'found'), `${warning}${text}`);
    await storeroom.volumeIs('emptied', 'Failed');
    assert.equal(
      await storeroom.event('VolumeFailedRecycle', 'emptied'),
      `${warning}No recycler plugin found for the volume!`,
    );
    assert.equal((await scene.get<StoredVolume>(volumes, '', 'made')).status.phase, 'Released');
  });

  it('calls a claim lost whose volume is gone', async () => {
    await storeroom.volume('breaks', 'loss');
    await storeroom.claim('loser', 'loss');
    await storeroom.claimIs('loser', 'Bound');
    await scene.update<StoredVolume>(volumes, '', 'breaks', ({ metadata }) => {
      metadata.finalizers = [];
    });
    await scene.delete(volumes, '', 'breaks');
    // Another loop writes the condition that no pod uses the claim.
    const { conditions: _conditions, ...status } = (await storeroom.claimIs('loser', 'Lost')).status;
    assert.deepEqual(status, { phase: 'Lost' });
    assert.equal(
      await storeroom.event('ClaimLost', 'loser'),
      `${warning}Bound claim has lost its PersistentVolume. Data on the volume is lost!`,
    );
    await storeroom.volume('breaks', 'loss');
    await storeroom.claimIs('loser', 'Bound');
  });

  it('frees a volume whose claim has another one', async () => {
    await storeroom.volume('mine', 'twice');
    await storeroom.claim('owns', 'twice');
    const { metadata } = await storeroom.claimIs('owns', 'Bound');
    const claimRef = {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      namespace: 'default',
      name: 'owns',
      uid: metadata.uid,
    };
    await storeroom.volume('spare', 'twice', '1Gi', { claimRef }, { [by]: 'yes' });
    const { spec, metadata: freed } = await storeroom.volumeIs('spare', 'Available');
    assert.equal(spec.claimRef, undefined);
    assert.equal(freed.annotations?.[by], undefined);
  });

  it('waits for the first pod where the class says so', async () => {
    await storeroom.storageClass('local', 'kubernetes.io/no-provisioner', {
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    await storeroom.volume('disk', 'local');
    await storeroom.volumeIs('disk', 'Available');
    await storeroom.claim('waits', 'local');
    assert.equal(
      await storeroom.event('WaitForFirstConsumer', 'waits'),
      `${prefix}waiting for first consumer to be created before binding`,
    );
    await storeroom.volumeIs('disk', 'Available');
    // The scheduler chose the volume.
    const { metadata } = await scene.get(claims, 'default', 'waits');
    await scene.update<StoredVolume>(volumes, '', 'disk', ({ spec }) => {
      const { name, namespace, uid } = metadata;
      spec.claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid };
    });
    await storeroom.claimIs('waits', 'Bound');
    await storeroom.volumeIs('disk', 'Bound');
  });

  it('asks external provisioners, at once or when the node is known', async () => {
    const asked = { 'volume.kubernetes.io/storage-provisioner': 'example.com/disks' };
    const beta = { 'volume.beta.kubernetes.io/storage-provisioner': 'example.com/disks' };
    const isAsked = ({ metadata }: StoredClaim) =>
      Object.entries({ ...asked, ...beta }).every(([key, value]) => metadata.annotations?.[key] === value);
    await storeroom.storageClass('made', 'example.com/disks');
    await storeroom.claim('now', 'made');
    await storeroom.claimIs('now', 'Pending', isAsked);
    assert.match(
      await storeroom.event('ExternalProvisioning', 'now'),
      /^Normal persistentvolume-controller: Waiting for a volume to be created either by the external provisioner 'example\.com\/disks' or manually by the system administrator\. /,
    );
    await storeroom.storageClass('made-later', 'example.com/disks', { volumeBindingMode: 'WaitForFirstConsumer' });
    await storeroom.claim('then', 'made-later');
    await storeroom.event('WaitForFirstConsumer', 'then');
    await scene.update(claims, 'default', 'then', ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'volume.kubernetes.io/selected-node': 'a' };
    });
    const { metadata } = await storeroom.claimIs('then', 'Pending', isAsked);
    const { name, namespace, uid } = metadata;
    await storeroom.volume('pvc-then', 'made-later', '1Gi', {
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid },
    });
    await storeroom.claimIs('then', 'Bound');
    await storeroom.storageClass('cloud', 'kubernetes.io/aws-ebs');
    await storeroom.claim('moved', 'cloud');
    assert.match(await storeroom.event('ExternalProvisioning', 'moved'), /'ebs\.csi\.aws\.com'/);
    await storeroom.storageClass('unmade', 'kubernetes.io/no-provisioner');
    await storeroom.claim('hopeless', 'unmade');
    assert.equal(
      await storeroom.event('ProvisioningFailed', 'hopeless'),
      `${warning}no volume plugin matched name: kubernetes.io/no-provisioner`,
    );
  });

  it('gives older claims the default class', async () => {
    await storeroom.claim('old', undefined);
    await storeroom.event('FailedBinding', 'old');
    await storeroom.storageClass(
      'usual',
      'example.com/disks',
      {},
      { 'storageclass.kubernetes.io/is-default-class': 'true' },
    );
    const { spec } = await storeroom.claimIs('old', 'Pending', (claim) => claim.spec.storageClassName !== undefined);
    assert.equal(spec.storageClassName, 'usual');
    await storeroom.event('ExternalProvisioning', 'old');
    assert.deepEqual(scene.logged, []);
  });
});

describe('two binders', () => {
  const count = 60;

  it('bind each claim once when they work at the same time', async () => {
    const scene = await LoopScene.start({ postgres });
    const storeroom = new Storeroom(scene);
    try {
      await scene.run(['persistentvolume-binder']);
      await scene.run(['persistentvolume-binder']);
      const each = (make: (name: string) => Promise<unknown>) =>
        Promise.all(Array.from({ length: count }, (_, i) => make(`x-${i}`)));
      await Promise.all([each((name) => storeroom.claim(name, 'c')), each((name) => storeroom.volume(name, 'c'))]);
      assert.equal((await storeroom.bound(count)).size, count);
      assert.deepEqual(scene.logged, []);
    } finally {
      await scene.end();
    }
  });

  it('lose nothing when one is stopped in the middle and another one goes on', async () => {
    const scene = await LoopScene.start({ postgres });
    const storeroom = new Storeroom(scene);
    try {
      for (let i = 0; i < count; i++) {
        await storeroom.claim(`x-${i}`, 'c');
        await storeroom.volume(`x-${i}`, 'c');
      }
      const first = await scene.run(['persistentvolume-binder']);
      await scene.until<StoredClaim, true>(claims, 'some are bound', (all) =>
        all.filter(({ status }) => status.phase === 'Bound').length > 5 ? true : undefined,
      );
      await first.stop();
      await scene.run(['persistentvolume-binder']);
      assert.equal((await storeroom.bound(count)).size, count);
    } finally {
      await scene.end();
    }
  });
});
