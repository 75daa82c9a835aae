import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { Place } from '../../../../test/support/place.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { WebDeployment } from '../../../../test/support/web-deployment.js';
import { templateHash } from '../frame/template-hash.js';
import type { StoredDeployment, StoredReplicaSet } from './deployment-annotations.js';

const deployments = 'deployments.apps';
const sets = 'replicasets.apps';
const revision = 'deployment.kubernetes.io/revision';
const history = 'deployment.kubernetes.io/revision-history';
const desired = 'deployment.kubernetes.io/desired-replicas';
const max = 'deployment.kubernetes.io/max-replicas';
const oneMore = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
const { labels, template, condition } = WebDeployment;

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

describe('deployments', () => {
  let scene: LoopScene;

  before(async () => {
    scene = await LoopScene.start({ postgres });
    await scene.run(['deployment', 'replicaset']);
  });
  after(() => scene.end());

  it('get a replica set with the marks of the field', async () => {
    const annotations = { note: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const web = await WebDeployment.make(scene, 'make', { strategy: oneMore, minReadySeconds: 0 }, { annotations });
    const { 'img:1': set } = await web.sizes({ 'img:1': 2 });
    const hash = set?.metadata.labels?.['pod-template-hash'];
    assert.match(hash ?? '', /^[a-z0-9]{1,10}$/);
    assert.equal(set?.metadata.name, `web-${hash}`);
    assert.deepEqual(set?.metadata.labels, { ...labels, 'pod-template-hash': hash });
    assert.deepEqual(set?.metadata.annotations, { note: 'x', [desired]: '2', [max]: '3', [revision]: '1' });
    assert.deepEqual(set?.spec.selector?.matchLabels, set?.metadata.labels);
    assert.deepEqual(set?.spec.template.metadata?.labels, set?.metadata.labels);
    const pending = await web.until('pods counted', ({ status }) => status.updatedReplicas === 2);
    const { uid } = pending.metadata;
    assert.deepEqual(set?.metadata.ownerReferences, [
      { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid, controller: true, blockOwnerDeletion: true },
    ]);
    assert.equal(pending.metadata.generation, 1);
    assert.equal(pending.metadata.annotations?.[revision], '1');
    const { conditions = [], ...counts } = pending.status;
    const present = { replicas: 2, updatedReplicas: 2, unavailableReplicas: 2, terminatingReplicas: 0 };
    assert.deepEqual(counts, { observedGeneration: 1, ...present });
    assert.deepEqual(
      conditions.map(({ type, status, reason, message }) => [type, status, reason, message]),
      [
        ['Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.'],
        ['Progressing', 'True', 'ReplicaSetUpdated', `ReplicaSet "web-${hash}" is progressing.`],
      ],
    );
    const [event] = await web.place.events('ScalingReplicaSet');
    assert.equal(event?.message, `Scaled up replica set web-${hash} from 0 to 2`);
    assert.equal(event?.source?.component, 'deployment-controller');

    await web.ready('img:1', 2);
    const { status } = await web.complete();
    assert.deepEqual(
      status.conditions?.map(({ type, status: value, reason, message }) => [type, value, reason, message]),
      [
        ['Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'],
        ['Progressing', 'True', 'NewReplicaSetAvailable', `ReplicaSet "web-${hash}" has successfully progressed.`],
      ],
    );
    assert.equal(status.unavailableReplicas, undefined);
  });

  it('scale their replica set and note the number on it', async () => {
    const web = await WebDeployment.make(scene, 'scale', { strategy: oneMore });
    await web.ready('img:1', 2);
    await web.complete();
    await web.change((spec) => {
      spec.replicas = 3;
    });
    const { 'img:1': set } = await web.sizes({ 'img:1': 3 });
    assert.equal(set?.metadata.annotations?.[desired], '3');
    assert.equal(set?.metadata.annotations?.[max], '4');
    const { status } = await web.until('three pods', ({ status: s }) => s.replicas === 3);
    assert.equal(status.unavailableReplicas, 1);
    assert.equal(condition(status, 'Available')?.status, 'False');
    assert.equal(condition(status, 'Progressing')?.reason, 'NewReplicaSetAvailable');
    await web.change((spec) => {
      spec.replicas = 0;
    });
    await web.sizes({ 'img:1': 0 });
    const none = await web.until('no pods', ({ status: s }) => s.replicas === undefined);
    assert.equal(condition(none.status, 'Available')?.status, 'True');
    const events = await web.place.events('ScalingReplicaSet', 3);
    assert.ok(events.some(({ message }) => message === `Scaled down replica set ${set?.metadata.name} from 3 to 0`));
  });

  it('replace pods one by one, and go back', async () => {
    const web = await WebDeployment.make(scene, 'roll', { strategy: oneMore });
    await web.ready('img:1', 2);
    await web.complete();
    await web.setImage('img:2');
    await web.sizes({ 'img:1': 2, 'img:2': 1 });
    const surge = await web.until('three pods', ({ status }) => status.replicas === 3);
    assert.equal(surge.metadata.annotations?.[revision], '2');
    assert.equal(surge.status.updatedReplicas, 1);
    assert.equal(surge.status.unavailableReplicas, 1);
    assert.equal(condition(surge.status, 'Available')?.status, 'True');
    assert.equal(condition(surge.status, 'Progressing')?.reason, 'ReplicaSetUpdated');
    await web.ready('img:2', 1);
    await web.sizes({ 'img:1': 1, 'img:2': 2 });
    await web.ready('img:2', 2);
    const both = await web.sizes({ 'img:1': 0, 'img:2': 2 });
    await web.complete();
    assert.equal(both['img:1']?.metadata.annotations?.[revision], '1');
    assert.equal(both['img:2']?.metadata.annotations?.[revision], '2');

    await web.setImage('img:1');
    const back = await web.sizes({ 'img:1': 1, 'img:2': 2 });
    assert.equal(back['img:1']?.metadata.uid, both['img:1']?.metadata.uid);
    assert.equal(back['img:1']?.metadata.annotations?.[revision], '3');
    assert.equal(back['img:1']?.metadata.annotations?.[history], '1');
    await web.ready('img:1', 1);
    await web.ready('img:1', 2);
    const { metadata } = await web.complete();
    assert.equal(metadata.annotations?.[revision], '3');
  });

  it('keep within their limits while they replace pods, in percent too', async () => {
    const web = await WebDeployment.make(scene, 'limits', { replicas: 8 });
    const stop = await web.place.node.work();
    await web.complete();
    const seen: { total: number; available: number }[] = [];
    const unfollow = await scene.follow<StoredReplicaSet>(sets, async () => {
      // Read all sets at one moment: sizes of different moments do not add up.
      const all = await web.place.until<StoredReplicaSet, StoredReplicaSet[]>(sets, 'sets', (found) => [...found]);
      const sum = (number: (set: StoredReplicaSet) => number | undefined) =>
        all.reduce((total, set) => total + (number(set) ?? 0), 0);
      seen.push({ total: sum(({ spec }) => spec.replicas), available: sum(({ status }) => status.availableReplicas) });
    });
    await web.setImage('img:2');
    await web.sizes({ 'img:1': 0, 'img:2': 8 });
    await web.complete();
    unfollow();
    stop();
    assert.ok(seen.length > 3);
    for (const { total, available } of seen) {
      assert.ok(total <= 10, `${total} pods`);
      assert.ok(available >= 6, `${available} available`);
    }
  });

  it('start again from the middle when the template changes meanwhile', async () => {
    const web = await WebDeployment.make(scene, 'middle', { replicas: 4, strategy: oneMore });
    await web.ready('img:1', 4);
    await web.complete();
    await web.setImage('img:2');
    await web.sizes({ 'img:1': 4, 'img:2': 1 });
    await web.ready('img:2', 1);
    await web.sizes({ 'img:1': 3, 'img:2': 2 });
    await web.setImage('img:3');
    // The unready pod of the second template is deleted first.
    await web.sizes({ 'img:1': 3, 'img:2': 1, 'img:3': 1 });
    const stop = await web.place.node.work();
    await web.sizes({ 'img:1': 0, 'img:2': 0, 'img:3': 4 });
    const { metadata } = await web.complete();
    assert.equal(metadata.annotations?.[revision], '3');
    stop();
  });

  it('take away broken pods first', async () => {
    const web = await WebDeployment.make(scene, 'broken', {
      replicas: 4,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    });
    const names = await web.pods('img:1', 4);
    for (const name of names.slice(0, 3)) await web.place.node.ready(name);
    await web.until('three ready', ({ status }) => status.availableReplicas === 3);
    await web.setImage('img:2');
    await web.sizes({ 'img:1': 3, 'img:2': 1 });
    const left = await web.pods('img:1', 3);
    assert.deepEqual(left, names.slice(0, 3));
  });

  it('end all old pods before they make new ones, if so asked', async () => {
    const web = await WebDeployment.make(scene, 'recreate', { strategy: { type: 'Recreate' } });
    for (const name of await web.pods('img:1', 2)) {
      await web.place.node.bind(name, 'n');
      await web.place.node.ready(name);
    }
    await web.complete();
    await web.setImage('img:2');
    const one = await web.sizes({ 'img:1': 0 });
    assert.equal(one['img:1']?.metadata.annotations?.[max], '2');
    const ending = await web.place.pods('all end', (pods) => pods.every(({ metadata }) => metadata.deletionTimestamp));
    assert.equal(ending.length, 2);
    await web.place.node.remove(ending[0]?.metadata.name ?? '');
    await web.until('no pods counted, one ends', ({ status }) => !status.replicas && status.terminatingReplicas === 1);
    await web.sizes({ 'img:1': 0 });
    await web.place.node.remove(ending[1]?.metadata.name ?? '');
    await web.sizes({ 'img:1': 0, 'img:2': 2 });
    await web.ready('img:2', 2);
    await web.complete();
  });

  it('change nothing while paused, but scale, and go on afterwards', async () => {
    const web = await WebDeployment.make(scene, 'pause', { strategy: oneMore });
    await web.ready('img:1', 2);
    await web.complete();
    await web.change((spec) => {
      spec.paused = true;
      const [container] = spec.template.spec.containers ?? [];
      if (container !== undefined) container.image = 'img:2';
    });
    const { status } = await web.until(
      'paused',
      (d) => condition(d.status, 'Progressing')?.reason === 'DeploymentPaused',
    );
    assert.equal(condition(status, 'Progressing')?.status, 'Unknown');
    assert.equal(condition(status, 'Progressing')?.message, 'Deployment is paused');
    await web.until('no pod is of the present template', (d) => d.status.updatedReplicas === undefined);
    await web.change((spec) => {
      spec.replicas = 3;
    });
    await web.sizes({ 'img:1': 3 });
    await web.change((spec) => {
      delete spec.paused;
    });
    await web.sizes({ 'img:1': 3, 'img:2': 1 });
    await web.until('resumed', (d) => condition(d.status, 'Progressing')?.reason !== 'DeploymentPaused');
  });

  it('scale in proportion in the middle of an update', async () => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } };
    const web = await WebDeployment.make(scene, 'proportion', { replicas: 10, strategy });
    await web.ready('img:1', 10);
    await web.complete();
    await web.setImage('img:2');
    await web.sizes({ 'img:1': 8, 'img:2': 5 });
    await web.change((spec) => {
      spec.replicas = 15;
    });
    await web.sizes({ 'img:1': 11, 'img:2': 7 });
  });

  it('forget the oldest replica sets', async () => {
    const web = await WebDeployment.make(scene, 'limit', { replicas: 1, revisionHistoryLimit: 2 });
    const stop = await web.place.node.work();
    for (const image of ['img:2', 'img:3', 'img:4', 'img:5']) {
      await web.complete();
      await web.setImage(image);
      await web.until(`rolled out ${image}`, ({ metadata }) => metadata.annotations?.[revision] === image.slice(4));
    }
    await web.complete();
    await web.sizes({ 'img:3': 0, 'img:4': 0, 'img:5': 1 });
    stop();
  });

  it('pass on settings and annotations without a new revision', async () => {
    const web = await WebDeployment.make(scene, 'pass', { replicas: 1 });
    await web.sizes({ 'img:1': 1 });
    await scene.update<StoredDeployment>(deployments, 'pass', 'web', (deployment) => {
      deployment.spec.minReadySeconds = 5;
      deployment.metadata.annotations = { ...deployment.metadata.annotations, 'kubernetes.io/change-cause': 'c' };
    });
    const set = await web.place.one<StoredReplicaSet>(sets, 'passed on', ({ spec }) => spec.minReadySeconds === 5);
    assert.equal(set.metadata.annotations?.['kubernetes.io/change-cause'], 'c');
    assert.equal(set.metadata.annotations?.[revision], '1');
  });

  it('find another name when theirs is taken', async () => {
    const place = await Place.make(scene, 'collision');
    const pausedSpec = { replicas: 1, paused: true, selector: { matchLabels: labels }, template: template('img:1') };
    const made = await scene.create<StoredDeployment>(deployments, {
      metadata: { name: 'web', namespace: 'collision' },
      spec: pausedSpec,
    } as object);
    const name = `web-${templateHash(made.spec.template)}`;
    const other = { matchLabels: { app: 'other' } };
    await scene.create(sets, {
      metadata: { name, namespace: 'collision' },
      spec: { replicas: 0, selector: other, template: { ...template('x'), metadata: { labels: other.matchLabels } } },
    } as object);
    await scene.update<StoredDeployment>(deployments, 'collision', 'web', ({ spec }) => {
      delete spec.paused;
    });
    const { status } = await place.one<StoredDeployment>(deployments, 'counted', (d) => d.status.replicas === 1);
    assert.equal(status.collisionCount, 1);
    const mine = await place.one<StoredReplicaSet>(
      sets,
      'another set',
      (set) => WebDeployment.imageOf(set) === 'img:1',
    );
    assert.equal(mine.metadata.name, `web-${templateHash(made.spec.template, 1)}`);
  });

  it('adopt the replica sets that an earlier deployment left', async () => {
    const web = await WebDeployment.make(scene, 'adopt', { replicas: 1 });
    const { 'img:1': set } = await web.sizes({ 'img:1': 1 });
    await scene.delete(deployments, 'adopt', 'web', { propagationPolicy: 'Background' });
    await scene.update<StoredReplicaSet>(sets, 'adopt', set?.metadata.name ?? '', ({ metadata }) => {
      delete metadata.ownerReferences;
    });
    const anew = await scene.create<StoredDeployment>(deployments, {
      metadata: { name: 'web', namespace: 'adopt' },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: template('img:1') },
    } as object);
    const { uid } = anew.metadata;
    const adopted = await web.place.one<StoredReplicaSet>(
      sets,
      'adopted',
      (s) => s.metadata.ownerReferences?.[0]?.uid === uid,
    );
    assert.equal(adopted.metadata.uid, set?.metadata.uid);
    await web.until('it has its revision', ({ metadata }) => metadata.annotations?.[revision] === '1');
  });

  it('release a replica set whose labels change, and make another one', async () => {
    const web = await WebDeployment.make(scene, 'release', { replicas: 1 });
    const { 'img:1': set } = await web.sizes({ 'img:1': 1 });
    const name = set?.metadata.name ?? '';
    await scene.update<StoredReplicaSet>(sets, 'release', name, ({ metadata }) => {
      metadata.labels = { app: 'x' };
    });
    await web.place.one<StoredReplicaSet>(
      sets,
      'released',
      (s) => s.metadata.name === name && !s.metadata.ownerReferences,
    );
    await web.until('its name is taken', ({ status }) => status.collisionCount === 1);
    await web.place.one<StoredReplicaSet>(sets, 'another one', (s) => s.metadata.name !== name);
  });

  it('start nothing while they are being deleted', async () => {
    const web = await WebDeployment.make(scene, 'deleted', { replicas: 1 }, { finalizers: ['example.com/wait'] });
    await web.sizes({ 'img:1': 1 });
    await web.until('counted', ({ status }) => status.replicas === 1);
    await scene.delete(deployments, 'deleted', 'web', { propagationPolicy: 'Background' });
    await web.change(({ template: { spec } }) => {
      for (const container of spec.containers ?? []) container.image = 'img:2';
    });
    await web.until('seen', ({ status }) => status.updatedReplicas === undefined);
    await web.sizes({ 'img:1': 1 });
  });
});
