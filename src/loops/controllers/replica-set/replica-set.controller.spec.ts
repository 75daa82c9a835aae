import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { Place } from '../../../../test/support/place.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { forbiddenError } from '../../../base/machinery/status-error.js';
import type { ReplicaSet } from '../../../objects/apis/apps/v1/replica-set.types.js';
import type { ReplicationController } from '../../../objects/apis/core/v1/replication-controller.types.js';
import type { WriteAdmission } from '../../../objects/registry/store/admitted-store.js';
import type { StoredPod } from '../frame/indexes.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { Replicated } from './replicated.js';

type Set = ReplicaSet & ApiObject;
type Controller = ReplicationController & ApiObject;

const sets = 'replicasets.apps';
const labels = { app: 'a' };
const template = {
  metadata: { labels, annotations: { note: 'x' }, finalizers: ['example.com/f'] },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const plain = { metadata: { labels }, spec: template.spec };

function replicaSet(namespace: string, replicas: number, spec: object = {}, metadata: object = {}) {
  return {
    metadata: { name: 'web', namespace, ...metadata },
    spec: { replicas, selector: { matchLabels: labels }, template: plain, ...spec },
  };
}

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

/** Waits until the status of the set at a place satisfies `look`. */
function statusOf(
  place: Place,
  what: string,
  look: (status: Replicated['status'], set: Replicated) => boolean | undefined,
  resource = sets,
): Promise<Replicated> {
  return place.one<Replicated>(resource, what, (set) => look(set.status, set));
}

async function scale({ scene, namespace }: Place, replicas: number): Promise<void> {
  await scene.update<Set>(sets, namespace, 'web', ({ spec }) => {
    spec.replicas = replicas;
  });
}

const namesOf = (pods: readonly StoredPod[]) => pods.map(({ metadata }) => metadata.name as string).sort();
const owned = ({ metadata }: StoredPod) => metadata.ownerReferences?.[0]?.name;

describe('replica sets', () => {
  let scene: LoopScene;

  before(async () => {
    scene = await LoopScene.start({ postgres });
    await scene.run(['replicaset', 'replicationcontroller']);
  });
  after(() => scene.end());

  it('get pods made from their template, which they own', async () => {
    const place = await Place.make(scene, 'make');
    const made = await scene.create<Set>(sets, replicaSet('make', 3, { template }));
    const pods = await place.pods('three pods', ({ length }) => length === 3);
    const [{ metadata, spec }] = pods as [StoredPod];
    assert.match(metadata.name ?? '', /^web-[a-z0-9]{5}$/);
    assert.equal(metadata.generateName, 'web-');
    assert.deepEqual(metadata.labels, labels);
    assert.deepEqual(metadata.annotations, { note: 'x' });
    assert.deepEqual(metadata.finalizers, ['example.com/f']);
    const { uid } = made.metadata;
    assert.deepEqual(metadata.ownerReferences, [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller: true, blockOwnerDeletion: true },
    ]);
    assert.equal(spec.containers?.[0]?.image, 'i');
    const { status } = await statusOf(place, 'all counted', ({ replicas }) => replicas === 3);
    assert.deepEqual(status, {
      replicas: 3,
      fullyLabeledReplicas: 3,
      terminatingReplicas: 0,
      observedGeneration: 1,
    });
    const events = await place.events('SuccessfulCreate');
    assert.match(events[0]?.message ?? '', /^Created pod: web-\w{5}$/);
    assert.equal(events[0]?.source?.component, 'replicaset-controller');
  });

  it('count ready and available pods', async () => {
    const place = await Place.make(scene, 'ready');
    await scene.create(sets, replicaSet('ready', 2));
    const [one, two] = namesOf(await place.pods('two pods', ({ length }) => length === 2)) as [string, string];
    await place.node.ready(one);
    const first = await statusOf(place, 'one ready', ({ readyReplicas }) => readyReplicas === 1);
    assert.equal(first.status.availableReplicas, 1);
    await place.node.ready(two);
    await statusOf(place, 'two ready', ({ availableReplicas }) => availableReplicas === 2);
    await place.node.unready(one);
    await statusOf(place, 'one ready again', ({ readyReplicas }) => readyReplicas === 1);
  });

  it('replace pods that end or go', async () => {
    const place = await Place.make(scene, 'replace');
    await scene.create(sets, replicaSet('replace', 2));
    const [one, two] = namesOf(await place.pods('two pods', ({ length }) => length === 2)) as [string, string];
    await place.node.finish(one, 'Failed');
    await place.pods('a third pod', ({ length }) => length === 3);
    await scene.delete('pods', 'replace', two);
    const pods = await place.pods('another one', (all) => all.length === 3 && !namesOf(all).includes(two));
    assert.ok(namesOf(pods).includes(one));
    await statusOf(place, 'two again', ({ replicas }) => replicas === 2);
  });

  it('replace a pod as soon as its deletion begins, and count it until it ends', async () => {
    const place = await Place.make(scene, 'ending');
    await scene.create(sets, replicaSet('ending', 1));
    const [name] = namesOf(await place.pods('a pod', ({ length }) => length === 1)) as [string];
    await place.node.bind(name, 'n');
    await place.node.ready(name);
    await scene.delete('pods', 'ending', name);
    await place.pods('two pods', ({ length }) => length === 2);
    await statusOf(
      place,
      'one ends',
      ({ replicas, terminatingReplicas }) => replicas === 1 && terminatingReplicas === 1,
    );
    await place.node.remove(name);
    await statusOf(place, 'it has ended', ({ terminatingReplicas }) => terminatingReplicas === 0);
  });

  it('scale up and down, and take the pods away that are missed least', async () => {
    const place = await Place.make(scene, 'scale');
    await scene.create(sets, replicaSet('scale', 2));
    const first = namesOf(await place.pods('two pods', ({ length }) => length === 2));
    for (const name of first) {
      await place.node.bind(name, 'n');
      await place.node.ready(name);
    }
    await scale(place, 5);
    await place.pods('five pods', ({ length }) => length === 5);
    await scale(place, 2);
    const left = await place.pods('two pods', ({ length }) => length === 2);
    assert.deepEqual(namesOf(left), first);
    const deleted = await place.events('SuccessfulDelete');
    assert.match(deleted[0]?.message ?? '', /^Deleted pod: web-\w{5}$/);
    await scale(place, 0);
    await place.pods('the agent is waited for', (pods) => pods.every(({ metadata }) => metadata.deletionTimestamp));
    const { status } = await statusOf(
      place,
      'none',
      (s, { metadata }) => s.observedGeneration === metadata.generation && s.replicas === 0,
    );
    assert.equal(status.terminatingReplicas, 2);
  });

  it('adopt a pod without a controller that they select, and count it', async () => {
    const place = await Place.make(scene, 'adopt');
    const stray = { metadata: { name: 'stray', namespace: 'adopt', labels }, spec: plain.spec };
    await scene.create('pods', stray);
    await scene.create(sets, replicaSet('adopt', 2));
    const pods = await place.pods('adopted', (all) => all.length === 2 && all.every((pod) => owned(pod) === 'web'));
    assert.ok(namesOf(pods).includes('stray'));
    const extra = { ...stray, metadata: { ...stray.metadata, name: 'extra' } };
    await scene.create('pods', extra);
    await place.pods('one was too many', (all) => all.length === 2 && all.every((pod) => owned(pod) === 'web'));
  });

  it('leave pods of other owners and pods that they do not select', async () => {
    const place = await Place.make(scene, 'leave');
    const other = { apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'u', controller: true };
    const metadata = { namespace: 'leave', labels };
    await scene.create('pods', { metadata: { ...metadata, name: 'a', ownerReferences: [other] }, spec: plain.spec });
    await scene.create('pods', { metadata: { ...metadata, name: 'b', labels: { app: 'b' } }, spec: plain.spec });
    await scene.create(sets, replicaSet('leave', 1));
    await statusOf(place, 'one pod', ({ replicas }) => replicas === 1);
    const pods = await place.pods('three', ({ length }) => length === 3);
    assert.deepEqual(pods.map((pod) => owned(pod) ?? '').sort(), ['', 'o', 'web']);
  });

  it('adopt a pod that has an owner but no controller, and keep that owner', async () => {
    const place = await Place.make(scene, 'coowned');
    const other = { apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'u' };
    await scene.create('pods', {
      metadata: { name: 'a', namespace: 'coowned', labels, ownerReferences: [other] },
      spec: plain.spec,
    });
    await scene.create(sets, replicaSet('coowned', 1));
    const [pod] = await place.pods('adopted', (all) => all[0]?.metadata.ownerReferences?.length === 2);
    assert.deepEqual(
      pod?.metadata.ownerReferences?.map(({ name }) => name),
      ['o', 'web'],
    );
  });

  it('release a pod whose labels change, replace it, and leave it', async () => {
    const place = await Place.make(scene, 'release');
    await scene.create(sets, replicaSet('release', 1));
    const [name] = namesOf(await place.pods('a pod', ({ length }) => length === 1)) as [string];
    await scene.update<StoredPod>('pods', 'release', name, ({ metadata }) => {
      metadata.labels = { app: 'b' };
    });
    const pods = await place.pods('two pods', (all) => all.length === 2 && all.some((pod) => owned(pod) === undefined));
    assert.equal(pods.find((pod) => owned(pod) === undefined)?.metadata.name, name);
    await scene.update<StoredPod>('pods', 'release', name, ({ metadata }) => {
      metadata.labels = labels;
    });
    await place.pods('taken back, one too many', (all) => all.length === 1 && owned(all[0] as StoredPod) === 'web');
  });

  it('count pods that lack a label of the template', async () => {
    const place = await Place.make(scene, 'labels');
    const more = { ...plain, metadata: { labels: { ...labels, tier: 'x' } } };
    await scene.create('pods', { metadata: { name: 'a', namespace: 'labels', labels }, spec: plain.spec });
    await scene.create(sets, replicaSet('labels', 2, { template: more }));
    const { status } = await statusOf(place, 'two', ({ replicas }) => replicas === 2);
    assert.equal(status.fullyLabeledReplicas, 1);
  });

  it('do nothing while they are being deleted, but count', async () => {
    const place = await Place.make(scene, 'deleted');
    const made = replicaSet('deleted', 1, {}, { finalizers: ['example.com/wait'] });
    await scene.create(sets, made);
    const [name] = namesOf(await place.pods('a pod', ({ length }) => length === 1)) as [string];
    await scene.delete(sets, 'deleted', 'web', { propagationPolicy: 'Background' });
    await scene.delete('pods', 'deleted', name);
    await statusOf(
      place,
      'counted',
      ({ replicas }, { metadata }) => replicas === 0 && metadata.deletionTimestamp !== undefined,
    );
    assert.deepEqual(await place.pods('none', ({ length }) => length === 0), []);
  });

  it('of the older kind work alike', async () => {
    const place = await Place.make(scene, 'rc');
    await scene.create<Controller>('replicationcontrollers', {
      metadata: { name: 'old', namespace: 'rc' },
      spec: { replicas: 2, selector: labels, template: plain },
    });
    const pods = await place.pods('two pods', ({ length }) => length === 2);
    assert.equal(pods[0]?.metadata.ownerReferences?.[0]?.kind, 'ReplicationController');
    assert.equal(pods[0]?.metadata.ownerReferences?.[0]?.apiVersion, 'v1');
    await place.node.ready(pods[0]?.metadata.name ?? '');
    const { status } = await statusOf(place, 'one ready', (s) => s.readyReplicas === 1, 'replicationcontrollers');
    assert.deepEqual(status, {
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 1,
      availableReplicas: 1,
      observedGeneration: 1,
    });
    const events = await place.events('SuccessfulCreate');
    assert.equal(events[0]?.source?.component, 'replication-controller');
  });

  it('make a thousand pods in seconds', async () => {
    const place = await Place.make(scene, 'many');
    await scene.create(sets, replicaSet('many', 1000));
    await statusOf(place, 'all there', ({ replicas }) => replicas === 1000);
  });
});

describe('replica sets whose pods are refused', () => {
  /** Refuses new pods while it is closed. */
  class Gate implements WriteAdmission {
    closed = true;
    asked = 0;
    admit: WriteAdmission['admit'] = async ({ resource }, object, old) => {
      const isNewPod = resource.definition.resource === 'pods' && old === undefined && object !== undefined;
      if (isNewPod) this.asked += 1;
      if (isNewPod && this.closed) {
        throw forbiddenError({ group: '', resource: 'pods' }, 'p', 'exceeded quota: q');
      }
      return object;
    };
    validate = async () => undefined;
  }

  it('say why, do not try a thousand times, and go on when they may', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      const gate = new Gate();
      const place = await Place.make(scene, 'gate');
      await scene.run(['replicaset'], timers, gate);
      await scene.create(sets, replicaSet('gate', 1000));
      const failed = await statusOf(
        place,
        'a condition',
        ({ conditions }) => conditions?.[0]?.type === 'ReplicaFailure',
      );
      const message = 'pods "p" is forbidden: exceeded quota: q';
      const [condition] = failed.status.conditions ?? [];
      assert.deepEqual(condition, {
        type: 'ReplicaFailure',
        status: 'True',
        lastTransitionTime: '2030-01-01T00:00:00Z',
        reason: 'FailedCreate',
        message,
      });
      assert.equal(failed.status.replicas, 0);
      const [event] = await place.events('FailedCreate');
      assert.equal(event?.message, `Error creating: ${message}`);
      assert.equal(event?.type, 'Warning');
      await timers.waiting((ms) => ms >= 10);
      assert.ok(gate.asked <= 3, `asked ${gate.asked} times without a pause`);
      assert.deepEqual(scene.logged, [], 'events and conditions tell it');
      gate.closed = false;
      timers.advance(120_000);
      const { status } = await statusOf(place, 'all there', ({ replicas }) => replicas === 1000);
      assert.equal(status.conditions, undefined);
    } finally {
      await scene.end();
    }
  });
});

describe('replica sets in time', () => {
  it('count a pod as available after minReadySeconds', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      const place = await Place.make(scene, 'wait');
      await scene.run(['replicaset']);
      await scene.create(sets, replicaSet('wait', 2, { minReadySeconds: 60 }));
      const [one, two] = namesOf(await place.pods('two pods', ({ length }) => length === 2)) as [string, string];
      await place.node.ready(one);
      await statusOf(place, 'one ready', ({ readyReplicas }) => readyReplicas === 1);
      await timers.waiting((ms) => ms === 60_000);
      await scene.pass(20_000);
      await place.node.ready(two);
      const { status } = await statusOf(place, 'two ready', ({ readyReplicas }) => readyReplicas === 2);
      assert.equal(status.availableReplicas, undefined);
      await scene.pass(40_000);
      await statusOf(place, 'one available', ({ availableReplicas }) => availableReplicas === 1);
      await timers.waiting((ms) => ms === 20_000);
      await scene.pass(20_000);
      await statusOf(place, 'two available', ({ availableReplicas }) => availableReplicas === 2);
    } finally {
      await scene.end();
    }
  });
});

describe('two processes with the loop of replica sets', () => {
  it('come to the wanted number although both work', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const place = await Place.make(scene, 'fight');
      await scene.create(sets, replicaSet('fight', 20));
      await Promise.all([scene.run(['replicaset']), scene.run(['replicaset'])]);
      await statusOf(place, 'twenty', ({ replicas }) => replicas === 20);
      await scale(place, 3);
      await statusOf(place, 'three', ({ replicas }, { spec }) => replicas === 3 && spec.replicas === 3);
      await place.pods('three pods', ({ length }) => length === 3);
      await scale(place, 7);
      await place.pods('seven pods', ({ length }) => length === 7);
      await statusOf(place, 'seven', ({ replicas }) => replicas === 7);
    } finally {
      await scene.end();
    }
  });

  it('finish what the other left half done', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const place = await Place.make(scene, 'relay');
      const first = await scene.run(['replicaset']);
      await scene.create(sets, replicaSet('relay', 300));
      await place.pods('some pods', ({ length }) => length > 5);
      await first.stop();
      await scene.run(['replicaset']);
      await statusOf(place, 'all', ({ replicas }) => replicas === 300);
      await place.pods('exactly as many', ({ length }) => length === 300);
    } finally {
      await scene.end();
    }
  });
});
