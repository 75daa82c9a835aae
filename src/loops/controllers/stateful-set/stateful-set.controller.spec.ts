import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { PretendNode } from '../../../../test/support/pretend-node.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { StoredRevision } from '../frame/controller-revisions.js';
import type { StoredPod } from '../frame/indexes.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { StoredClaim, StoredStatefulSet } from './stateful-pods.js';

const sets = 'statefulsets.apps';
const labels = { app: 'db' };

function template(image = 'img:1', spec: object = {}) {
  return { metadata: { labels }, spec: { containers: [{ name: 'c', image }], ...spec } };
}

const claims = [
  {
    metadata: { name: 'data', labels: { x: 'y' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
];

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

/** The stateful set `db` of a namespace, with its pods, claims and revisions. */
class Place {
  readonly node: PretendNode;

  private constructor(
    readonly scene: LoopScene,
    readonly namespace: string,
  ) {
    this.node = new PretendNode(scene, namespace);
  }

  static async make(scene: LoopScene, namespace: string): Promise<Place> {
    await scene.create('namespaces', { metadata: { name: namespace } });
    return new Place(scene, namespace);
  }

  create(spec: object = {}): Promise<StoredStatefulSet> {
    return this.scene.create<StoredStatefulSet>(sets, {
      metadata: { name: 'db', namespace: this.namespace },
      spec: { replicas: 2, serviceName: 'svc', selector: { matchLabels: labels }, template: template(), ...spec },
    });
  }

  change(change: (spec: StoredStatefulSet['spec']) => void): Promise<StoredStatefulSet> {
    return this.scene.update<StoredStatefulSet>(sets, this.namespace, 'db', ({ spec }) => change(spec));
  }

  setImage(image: string): Promise<StoredStatefulSet> {
    return this.change(({ template }) => {
      const [container] = template.spec?.containers ?? [];
      if (container) container.image = image;
    });
  }

  /** Waits until the pods have these names, in order; a name may end with `=image`. */
  pods(expected: string): Promise<StoredPod[]> {
    return this.scene.until<StoredPod, StoredPod[]>('pods', `pods ${expected}`, (all) => {
      const mine = all
        .filter(({ metadata }) => metadata.namespace === this.namespace)
        .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
      const shown = mine.map(({ metadata, spec }) =>
        expected.includes('=') ? `${metadata.name}=${spec.containers?.[0]?.image}` : metadata.name,
      );
      return shown.join(' ') === expected && mine;
    });
  }

  status(
    what: string,
    look: (status: StoredStatefulSet['status'], set: StoredStatefulSet) => boolean | undefined,
  ): Promise<StoredStatefulSet> {
    return this.scene.until<StoredStatefulSet, StoredStatefulSet>(sets, what, (all) =>
      all.find((set) => set.metadata.namespace === this.namespace && look(set.status, set)),
    );
  }

  /** Waits until all pods are ready and new. */
  settled(replicas: number): Promise<StoredStatefulSet> {
    return this.status(`${replicas} ready`, (status, { metadata }) => {
      const { observedGeneration, readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = status;
      const isUpdated = updatedReplicas === replicas && currentRevision === updateRevision;
      return observedGeneration === metadata.generation && readyReplicas === replicas && isUpdated;
    });
  }

  revisions(count: number): Promise<StoredRevision[]> {
    return this.scene.until<StoredRevision, StoredRevision[]>(
      'controllerrevisions.apps',
      `${count} revisions`,
      (all) => {
        const mine = all.filter(({ metadata }) => metadata.namespace === this.namespace);
        return mine.length === count && mine.sort((a, b) => a.revision - b.revision);
      },
    );
  }

  claims(what: string, look: (claims: readonly StoredClaim[]) => boolean): Promise<StoredClaim[]> {
    return this.scene.until<StoredClaim, StoredClaim[]>('persistentvolumeclaims', what, (all) => {
      const mine = all.filter(({ metadata }) => metadata.namespace === this.namespace);
      return look(mine) && mine;
    });
  }

  event(reason: string, message: RegExp): Promise<Event> {
    return this.scene.until<Event & ApiObject, Event>('events', `an event ${reason}: ${message}`, (all) =>
      all.find(
        (event) =>
          event.metadata.namespace === this.namespace && event.reason === reason && message.test(event.message ?? ''),
      ),
    );
  }
}

describe('stateful sets', () => {
  let scene: LoopScene;

  before(async () => {
    scene = await LoopScene.start({ postgres });
    await scene.run(['statefulset']);
  });
  after(() => scene.end());

  it('get their pods one after the other, each with its name and claims', async () => {
    const place = await Place.make(scene, 'order');
    const set = await place.create({ volumeClaimTemplates: claims });
    const [first] = await place.pods('db-0');
    const status = await place.status('one counted', ({ replicas }) => replicas === 1);
    const revision = status.status.updateRevision ?? '';
    assert.match(revision, /^db-[a-z0-9]+$/);
    assert.deepEqual(status.status, {
      observedGeneration: 1,
      replicas: 1,
      currentReplicas: 1,
      updatedReplicas: 1,
      currentRevision: revision,
      updateRevision: revision,
      collisionCount: 0,
      availableReplicas: 0,
    });
    assert.deepEqual(first?.metadata.labels, {
      app: 'db',
      'controller-revision-hash': revision,
      'statefulset.kubernetes.io/pod-name': 'db-0',
      'apps.kubernetes.io/pod-index': '0',
    });
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: set.metadata.uid };
    assert.deepEqual(first?.metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    assert.equal(first?.metadata.generateName, 'db-');
    assert.equal(first?.spec.hostname, 'db-0');
    assert.equal(first?.spec.subdomain, 'svc');
    assert.deepEqual(first?.spec.volumes?.[0], { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } });
    const claim = await scene.get<StoredClaim>('persistentvolumeclaims', 'order', 'data-db-0');
    assert.deepEqual(claim.metadata.labels, { app: 'db', x: 'y' });
    assert.equal(claim.metadata.ownerReferences, undefined);
    assert.equal(claim.status.phase, 'Pending');
    await place.node.ready('db-0');
    await place.pods('db-0 db-1');
    await place.node.ready('db-1');
    const { status: done } = await place.settled(2);
    assert.deepEqual([done.replicas, done.currentReplicas, done.availableReplicas], [2, 2, 2]);
    const event = await place.event('SuccessfulCreate', /^Create Claim data-db-0 Pod db-0 in StatefulSet db success$/);
    assert.equal(event.source?.component, 'statefulset-controller');
    await place.event('SuccessfulCreate', /^Create Pod db-1 in StatefulSet db successful$/);

    await place.change((spec) => {
      spec.replicas = 1;
    });
    await place.scene.until<StoredPod, true>('pods', 'db-1 goes', (pods) => {
      return !pods.some(
        ({ metadata }) => metadata.namespace === 'order' && metadata.name === 'db-1' && !metadata.deletionTimestamp,
      );
    });
    await place.pods('db-0');
    await place.claims('both stay', ({ length }) => length === 2);
  });

  it('keep a history, number a template anew after a rollback, and forget old ones', async () => {
    const place = await Place.make(scene, 'history');
    await place.node.work();
    await place.create({ revisionHistoryLimit: 1 });
    await place.settled(2);
    const [one] = await place.revisions(1);
    assert.ok(one);
    assert.equal(one.revision, 1);
    assert.equal(one.metadata.ownerReferences?.[0]?.kind, 'StatefulSet');
    const { spec } = one.data as unknown as { spec: { template: Record<string, unknown> } };
    assert.equal(spec.template.$patch, 'replace');
    await place.setImage('img:2');
    await place.settled(2);
    assert.deepEqual(
      (await place.revisions(2)).map(({ revision }) => revision),
      [1, 2],
    );
    await place.pods('db-0=img:2 db-1=img:2');
    await place.setImage('img:1');
    await place.settled(2);
    const back = await place.revisions(2);
    assert.deepEqual(
      back.map(({ revision }) => revision),
      [2, 3],
    );
    assert.equal(back[1]?.metadata.name, one?.metadata.name);
    await place.setImage('img:3');
    await place.settled(2);
    await place.setImage('img:4');
    await place.settled(2);
    const left = await scene.until<StoredRevision, StoredRevision[]>(
      'controllerrevisions.apps',
      'two are left',
      (all) => {
        const mine = all.filter(({ metadata }) => metadata.namespace === 'history');
        return mine.length === 2 && mine.some(({ revision }) => revision === 5) && mine;
      },
    );
    assert.deepEqual(left.map(({ revision }) => revision).sort(), [4, 5]);
  });

  it('roll out from the end, down to the partition', async () => {
    const place = await Place.make(scene, 'rolling');
    await place.node.work();
    await place.create({ replicas: 3 });
    const before = await place.settled(3);
    await place.change(({ updateStrategy }) => {
      updateStrategy.rollingUpdate = { partition: 2 };
    });
    await place.setImage('img:2');
    await place.pods('db-0=img:1 db-1=img:1 db-2=img:2');
    const half = await place.status(
      'one updated',
      ({ updatedReplicas, readyReplicas }) => updatedReplicas === 1 && readyReplicas === 3,
    );
    assert.equal(half.status.currentReplicas, 2);
    assert.equal(half.status.currentRevision, before.status.currentRevision);
    assert.notEqual(half.status.updateRevision, before.status.currentRevision);
    // A pod below the partition is made again from the old revision.
    const { metadata: gone } = await scene.get('pods', 'rolling', 'db-0');
    await scene.delete('pods', 'rolling', 'db-0', { gracePeriodSeconds: 0 });
    await scene.until<StoredPod, true>('pods', 'another db-0', (pods) =>
      pods.some(({ metadata: { namespace, name, uid } }) => {
        return namespace === 'rolling' && name === 'db-0' && uid !== gone.uid;
      }),
    );
    await place.pods('db-0=img:1 db-1=img:1 db-2=img:2');
    await place.change(({ updateStrategy }) => {
      updateStrategy.rollingUpdate = { partition: 0 };
    });
    await place.pods('db-0=img:2 db-1=img:2 db-2=img:2');
    await place.settled(3);
  });

  it('replace with OnDelete only what somebody deletes', async () => {
    const place = await Place.make(scene, 'ondelete');
    await place.node.work();
    await place.create({ updateStrategy: { type: 'OnDelete' } });
    await place.settled(2);
    await place.setImage('img:2');
    await place.status(
      'observed',
      ({ observedGeneration, updatedReplicas = 0 }) => observedGeneration === 2 && updatedReplicas === 0,
    );
    await place.pods('db-0=img:1 db-1=img:1');
    await scene.delete('pods', 'ondelete', 'db-0', { gracePeriodSeconds: 0 });
    await place.pods('db-0=img:2 db-1=img:1');
  });

  it('make and remove all pods at once in parallel', async () => {
    const place = await Place.make(scene, 'parallel');
    await place.create({ replicas: 40, podManagementPolicy: 'Parallel', ordinals: { start: 10 } });
    const names = Array.from({ length: 40 }, (_, i) => `db-${i + 10}`);
    const made = await place.pods(names.join(' '));
    assert.equal(made[0]?.metadata.labels?.['apps.kubernetes.io/pod-index'], '10');
    await place.change((spec) => {
      spec.replicas = 0;
    });
    await place.pods('');
    await place.settled(0);
  });

  it('make failed pods anew and say so', async () => {
    const place = await Place.make(scene, 'failed');
    await place.create({ replicas: 1 });
    const [first] = await place.pods('db-0');
    await place.node.finish('db-0', 'Failed');
    await scene.until<StoredPod, true>('pods', 'another db-0', (pods) =>
      pods.some(({ metadata }) => metadata.namespace === 'failed' && metadata.uid !== first?.metadata.uid),
    );
    await place.event('RecreatingFailedPod', /^StatefulSet failed\/db is recreating failed Pod db-0$/);
  });

  it('adopt pods of their names and revisions, and release what does not match', async () => {
    const place = await Place.make(scene, 'adopt');
    await place.node.work();
    const pod = (name: string) => ({ metadata: { name, namespace: 'adopt', labels }, spec: template().spec });
    await scene.create<StoredPod>('pods', pod('db-0'));
    await scene.create<StoredPod>('pods', pod('other-0'));
    // A rolling update would replace a pod of an unknown revision.
    const set = await place.create({ replicas: 1, updateStrategy: { type: 'OnDelete' } });
    const owned = await scene.until<StoredPod, StoredPod>('pods', 'an owner and labels', (pods) =>
      pods.find(({ metadata: { namespace, name, labels } }) => {
        return namespace === 'adopt' && name === 'db-0' && labels?.['apps.kubernetes.io/pod-index'] === '0';
      }),
    );
    assert.equal(owned.metadata.ownerReferences?.[0]?.uid, set.metadata.uid);
    await scene.update<StoredPod>('pods', 'adopt', 'db-0', ({ metadata }) => {
      metadata.labels = { ...metadata.labels, app: 'gone' };
    });
    const released = await scene.until<StoredPod, StoredPod>('pods', 'no owner', (pods) =>
      pods.find(({ metadata: { namespace, name, ownerReferences } }) => {
        return namespace === 'adopt' && name === 'db-0' && ownerReferences === undefined;
      }),
    );
    assert.equal(released.metadata.labels?.app, 'gone');
    await place.event('FailedCreate', /Create Pod db-0 in StatefulSet db failed error: .*already exists/);
    const other = await scene.get<StoredPod>('pods', 'adopt', 'other-0');
    assert.equal(other.metadata.ownerReferences, undefined);
  });

  it('give claims the owners that the retention policy asks for', async () => {
    const place = await Place.make(scene, 'retention');
    await place.node.work();
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' };
    const set = await place.create({ volumeClaimTemplates: claims, persistentVolumeClaimRetentionPolicy });
    await place.settled(2);
    const owners = ({ metadata }: StoredClaim) =>
      metadata.ownerReferences?.map(({ kind, uid }) => `${kind} ${uid}`).join() ?? '';
    const own = `StatefulSet ${set.metadata.uid}`;
    await place.claims('owned by the set', (all) => all.length === 2 && all.every((claim) => owners(claim) === own));
    const pod = await scene.get('pods', 'retention', 'db-1');
    await place.change((spec) => {
      spec.replicas = 1;
    });
    await place.pods('db-0');
    const [, last] = await place.claims(
      'one owned by its pod',
      ([, second]) => second !== undefined && owners(second).startsWith('Pod'),
    );
    assert.ok(last && owners(last) === `Pod ${pod.metadata.uid}`);
    // No pod is made while the claim that belongs to the former pod exists.
    await place.change((spec) => {
      spec.replicas = 2;
    });
    await place.status('observed', ({ observedGeneration, replicas }) => observedGeneration === 3 && replicas === 1);
    await scene.update('persistentvolumeclaims', 'retention', 'data-db-1', ({ metadata }) => {
      metadata.finalizers = [];
    });
    await scene.delete('persistentvolumeclaims', 'retention', 'data-db-1');
    await place.pods('db-0 db-1');
    await place.change((spec) => {
      spec.persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Retain', whenScaled: 'Retain' };
    });
    await place.claims('without owners', (all) => all.length === 2 && all.every((claim) => owners(claim) === ''));
  });

  it('give a waiting pod a claim that was deleted', async () => {
    const place = await Place.make(scene, 'claims');
    await place.create({ replicas: 1, volumeClaimTemplates: claims });
    await place.pods('db-0');
    const [first] = await place.claims('one', ({ length }) => length === 1);
    await scene.update('persistentvolumeclaims', 'claims', 'data-db-0', ({ metadata }) => {
      metadata.finalizers = [];
    });
    await scene.delete('persistentvolumeclaims', 'claims', 'data-db-0');
    await place.node.unready('db-0');
    await scene.update<StoredPod>(
      'pods',
      'claims',
      'db-0',
      ({ status }) => {
        status.phase = 'Pending';
      },
      'status',
    );
    await place.claims('another', ([claim]) => claim !== undefined && claim.metadata.uid !== first?.metadata.uid);
  });

  it('choose another name for a revision whose name is taken', async () => {
    const place = await Place.make(scene, 'taken');
    const other = await Place.make(scene, 'free');
    await other.create({ replicas: 1 });
    const [known] = await other.revisions(1);
    const name = known?.metadata.name ?? '';
    await scene.create('controllerrevisions.apps', {
      metadata: { name, namespace: 'taken' },
      data: { a: 'b' },
      revision: 7,
    } as object);
    await place.create({ replicas: 1 });
    const { status } = await place.status('a collision', ({ collisionCount }) => collisionCount === 1);
    assert.notEqual(status.updateRevision, name);
    await place.pods('db-0');
  });

  it('are left alone while they are being deleted', async () => {
    const place = await Place.make(scene, 'deleted');
    await place.node.work();
    await place.create({ replicas: 1 });
    await place.settled(1);
    await scene.update<StoredStatefulSet>(sets, 'deleted', 'db', ({ metadata }) => {
      metadata.finalizers = ['example.com/wait'];
    });
    await scene.delete(sets, 'deleted', 'db');
    await scene.delete('pods', 'deleted', 'db-0', { gracePeriodSeconds: 0 });
    await place.status('no pod counted', ({ replicas }) => replicas === 0);
    await place.pods('');
  });
});

describe('stateful sets and time', () => {
  it('wait for minReadySeconds before the next pod', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      await scene.run(['statefulset']);
      const place = await Place.make(scene, 'slow');
      await place.create({ minReadySeconds: 60 });
      await place.pods('db-0');
      const waits = timers.waiting((ms) => ms > 30_000 && ms <= 60_000);
      await place.node.ready('db-0');
      await waits;
      const { status } = await place.status('ready', ({ readyReplicas }) => readyReplicas === 1);
      assert.equal(status.availableReplicas, 0);
      await place.pods('db-0');
      await scene.pass(60_000);
      await place.pods('db-0 db-1');
      await place.status('available', ({ availableReplicas }) => availableReplicas === 1);
    } finally {
      await scene.end();
    }
  });
});

describe('stateful sets in several processes', () => {
  it('come out right when two processes work on them', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      await scene.run(['statefulset']);
      await scene.run(['statefulset']);
      const place = await Place.make(scene, 'fight');
      await place.node.work();
      await place.create({ replicas: 4, podManagementPolicy: 'Parallel', volumeClaimTemplates: claims });
      await place.settled(4);
      await place.setImage('img:2');
      await place.pods('db-0=img:2 db-1=img:2 db-2=img:2 db-3=img:2');
      await place.settled(4);
      await place.revisions(2);
      await place.claims('four', ({ length }) => length === 4);
    } finally {
      await scene.end();
    }
  });

  it('are finished by another process', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const first = await scene.run(['statefulset']);
      const place = await Place.make(scene, 'takeover');
      await place.create({ replicas: 3 });
      await place.pods('db-0');
      await first.stop();
      await place.node.work();
      await scene.run(['statefulset']);
      await place.settled(3);
      await place.pods('db-0 db-1 db-2');
      await place.revisions(1);
    } finally {
      await scene.end();
    }
  });
});
