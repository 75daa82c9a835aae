import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { openAdmission, type WriteAdmission } from '../../../objects/registry/store/admitted-store.js';

type Policy = 'Foreground' | 'Background' | 'Orphan';

const maps = 'configmaps';
const hold = 'example.com/hold';

describe('GarbageCollector', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    scene = await LoopScene.start({ postgres });
  });
  afterEach(() => scene?.end());

  const collect = () => scene.run(['garbagecollector']);

  function refTo(owner: ApiObject, fields: Partial<OwnerReference> = {}): OwnerReference {
    const { name = '', uid = '' } = owner.metadata;
    return { apiVersion: owner.apiVersion ?? '', kind: owner.kind ?? '', name, uid, ...fields };
  }

  function map(name: string, owners: OwnerReference[] = [], finalizers: string[] = []): Promise<ApiObject> {
    return scene.create(maps, { metadata: { name, namespace: 'default', ownerReferences: owners, finalizers } });
  }

  const remove = (name: string, propagationPolicy?: Policy) =>
    scene.delete(maps, 'default', name, propagationPolicy === undefined ? {} : { propagationPolicy });

  /** Waits until exactly these config maps exist. */
  const untilMaps = (...names: string[]) =>
    scene.until(maps, `exactly ${names.join(', ')}`, (objects) => {
      const found = objects.map(({ metadata }) => metadata.name).sort();
      return JSON.stringify(found) === JSON.stringify(names.sort());
    });
  const untilMap = (name: string, what: string, look: (object: ApiObject) => boolean) =>
    scene.until(maps, `${name}: ${what}`, (objects) =>
      objects.find((object) => object.metadata.name === name && look(object)),
    );
  const untilDeleting = (name: string) =>
    untilMap(name, 'is being deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined);
  const letGo = (name: string) =>
    scene.update(maps, 'default', name, (live) => {
      live.metadata.finalizers = (live.metadata.finalizers ?? []).filter((one) => one !== hold);
    });

  it('deletes what a deleted object owned, at every depth, whenever it is started', async () => {
    const root = await map('root');
    const child = await map('child', [refTo(root)]);
    await map('grandchild', [refTo(child)]);
    await map('other');
    await remove('root');
    await collect();
    await untilMaps('other');
    const late = await map('late');
    await map('late-child', [refTo(late)]);
    await remove('late');
    await untilMaps('other');
  });

  it('keeps what one of its owners still owns, without the references to the others', async () => {
    const [first, second] = [await map('first'), await map('second')];
    await map('shared', [refTo(first), refTo(second, { controller: true })]);
    await collect();
    await remove('first');
    const shared = await untilMap('shared', 'has one owner', (it) => it.metadata.ownerReferences?.length === 1);
    assert.equal(shared.metadata.ownerReferences?.[0]?.name, 'second');
    assert.equal(shared.metadata.ownerReferences?.[0]?.controller, true);
    await remove('second');
    await untilMaps();
  });

  it('lets namespaces take turns: a large cascade of one delays those of another little', async () => {
    const dependents = 600;
    await scene.create('namespaces', { metadata: { name: 'noisy' } });
    const noisy = (name: string, owners: OwnerReference[]) =>
      scene.create(maps, { metadata: { name, namespace: 'noisy', ownerReferences: owners } });
    const hub = await noisy('hub', []);
    for (let i = 0; i < dependents; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, k) => noisy(`d${i + k}`, [refTo(hub)])));
    }
    const root = await map('root');
    const child = await map('child', [refTo(root)]);
    await map('grandchild', [refTo(child)]);
    await scene.delete(maps, 'noisy', 'hub', {});
    await remove('root');
    await collect();
    const left = await scene.until(maps, 'the small cascade is done', (objects) => {
      const isThere = objects.some(({ metadata }) => metadata.namespace === 'default');
      return isThere ? undefined : objects.length;
    });
    assert.ok(left > dependents / 2, `${left} of ${dependents} dependents in the other namespace are left`);
    await scene.until(maps, 'the large one too', (objects) => objects.length === 0);
  });

  it('deletes what names an owner that never was, or an object of that name with another uid', async () => {
    const owner = await map('owner');
    await collect();
    const uid = randomUUID();
    await map('never', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid }]);
    await map('other-uid', [refTo(owner, { uid })]);
    await map('other-kind', [refTo(owner, { kind: 'Secret' })]);
    await map('other-name', [refTo(owner, { name: 'somebody' })]);
    await untilMaps('owner');
  });

  it('keeps what names an owner of an unknown kind or version', async () => {
    const uid = randomUUID();
    const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid };
    const solid = await map('solid');
    await map('unknown-kind', [{ apiVersion: 'example.com/v1', kind: 'Nothing', name: 'x', uid }, gone]);
    await map('unknown-version', [{ apiVersion: 'v9', kind: 'ConfigMap', name: 'x', uid }]);
    await map('known', [gone]);
    await map('half', [refTo(solid), gone]);
    await collect();
    const half = await untilMap('half', 'has one owner', (it) => it.metadata.ownerReferences?.length === 1);
    assert.equal(half.metadata.ownerReferences?.[0]?.name, 'solid');
    const unknown = await scene.get(maps, 'default', 'unknown-kind');
    assert.equal(unknown.metadata.ownerReferences?.length, 2, 'nothing is decided while an owner is unknown');
  });

  it('knows owners by the uid, whatever served version a reference names', async () => {
    const job = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } };
    const spec = { schedule: '0 0 * * *', jobTemplate: { spec: job } };
    const cron = await scene.create('cronjobs.batch', { metadata: { name: 'c', namespace: 'default' }, spec });
    await map('new', [refTo(cron, { apiVersion: 'batch/v1' })]);
    await map('old', [refTo(cron, { apiVersion: 'batch/v1beta1' })]);
    await map('wrong', [refTo(cron, { apiVersion: 'apps/v1' })]);
    const uid = randomUUID();
    await map('doomed', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid }]);
    await collect();
    await untilMaps('new', 'old', 'wrong');
    await scene.delete('cronjobs.batch', 'default', 'c');
    await untilMaps('wrong');
  });

  it('keeps the right one of two references with the same uid', async () => {
    const owner = await map('owner');
    const wrong = [refTo(owner, { kind: 'Secret' }), refTo(owner, { name: 'somebody' })];
    await map('twice', [...wrong, refTo(owner)]);
    await collect();
    const twice = await untilMap('twice', 'has one owner', (it) => (it.metadata.ownerReferences?.length ?? 0) < 3);
    assert.deepEqual(twice.metadata.ownerReferences, [refTo(owner)]);
    await remove('owner');
    await untilMaps();
  });

  it('collects what got an owner later, and leaves alone what lost its references', async () => {
    const [owner, other] = [await map('owner'), await map('other')];
    await map('later');
    await map('freed', [refTo(owner)]);
    await collect();
    await scene.update(maps, 'default', 'later', (live) => (live.metadata.ownerReferences = [refTo(owner)]));
    await scene.update(maps, 'default', 'freed', (live) => (live.metadata.ownerReferences = []));
    await remove('owner');
    await untilMaps('freed', 'other');
    const gone = refTo(owner);
    await scene.update(maps, 'default', 'freed', (live) => (live.metadata.ownerReferences = [gone, refTo(other)]));
    await untilMap('freed', 'has one owner', (it) => it.metadata.ownerReferences?.length === 1);
    await scene.update(maps, 'default', 'freed', (live) => (live.metadata.ownerReferences = [gone]));
    await untilMaps('other');
  });

  it('does not find owners in other namespaces, and says so', async () => {
    await scene.create('namespaces', { metadata: { name: 'elsewhere' } });
    const owner = await scene.create<ApiObject>(maps, { metadata: { name: 'owner', namespace: 'elsewhere' } });
    await map('stranger', [refTo(owner)]);
    await collect();
    await untilMaps('owner');
    const event = await scene.until('events', 'an event', (events) => events[0]);
    assert.equal(event.reason, 'OwnerRefInvalidNamespace');
    assert.equal(event.type, 'Warning');
    const text = `[v1/ConfigMap, namespace: default, name: owner, uid: ${owner.metadata.uid}]`;
    assert.equal(event.message, `ownerRef ${text} does not exist in namespace "default"`);
    assert.deepEqual(event.source, { component: 'garbage-collector-controller' });
    assert.equal((event.involvedObject as { name: string }).name, 'stranger');
  });

  it('keeps objects of the cluster that name an owner in a namespace, and says so', async () => {
    const owner = await map('owner');
    const metadata = { name: 'role', ownerReferences: [refTo(owner)] };
    await scene.create('clusterroles.rbac.authorization', { metadata, rules: [] });
    await collect();
    const event = await scene.until('events', 'an event', (events) => events[0]);
    assert.equal(event.reason, 'OwnerRefInvalidNamespace');
    await remove('owner');
    await map('doomed', [refTo(owner)]);
    await untilMaps();
    await scene.get('clusterroles.rbac.authorization', '', 'role');
  });

  it('finds owners of the cluster from every namespace', async () => {
    const roles = 'clusterroles.rbac.authorization';
    const role = await scene.create(roles, { metadata: { name: 'role' }, rules: [] });
    await map('owned', [refTo(role)]);
    await map('doomed', [refTo(role, { uid: randomUUID() })]);
    await collect();
    await untilMaps('owned');
    await scene.delete(roles, '', 'role');
    await untilMaps();
  });

  describe('foreground', () => {
    it('waits for dependents that block, at every depth', async () => {
      const root = await map('root');
      const block = { blockOwnerDeletion: true };
      const child = await map('child', [refTo(root, block)]);
      await map('grandchild', [refTo(child, block)], [hold]);
      await map('free', [refTo(root)], [hold]);
      await collect();
      await remove('root', 'Foreground');
      await untilDeleting('grandchild');
      const waiting = await untilDeleting('child');
      assert.deepEqual(waiting.metadata.finalizers, ['foregroundDeletion']);
      const free = await untilDeleting('free');
      assert.deepEqual(free.metadata.finalizers, [hold]);
      assert.deepEqual((await scene.get(maps, 'default', 'root')).metadata.finalizers, ['foregroundDeletion']);
      await letGo('grandchild');
      await untilMaps('free');
      await letGo('free');
      await untilMaps();
    });

    it('does not wait when there is nothing to wait for', async () => {
      await map('lone');
      const loose = await map('loose');
      await map('dependent', [refTo(loose)], [hold]);
      await collect();
      await remove('lone', 'Foreground');
      await remove('loose', 'Foreground');
      await untilMaps('dependent');
      await untilDeleting('dependent');
    });

    it('ends the wait when a dependent stops blocking or changes its owner', async () => {
      const owner = await map('owner');
      const block = { blockOwnerDeletion: true };
      await map('a', [refTo(owner, block)], [hold]);
      await map('b', [refTo(owner, block)], [hold]);
      await collect();
      await remove('owner', 'Foreground');
      await Promise.all([untilDeleting('a'), untilDeleting('b')]);
      await scene.update(maps, 'default', 'a', (live) => (live.metadata.ownerReferences = [refTo(owner)]));
      assert.ok(await scene.find(maps, 'default', 'owner'));
      await scene.update(maps, 'default', 'b', (live) => (live.metadata.ownerReferences = []));
      await untilMaps('a', 'b');
    });

    it('keeps what another owner owns, and goes on', async () => {
      const [owner, other] = [await map('owner'), await map('other')];
      await map('shared', [refTo(owner, { blockOwnerDeletion: true }), refTo(other)]);
      await collect();
      await remove('owner', 'Foreground');
      await untilMaps('other', 'shared');
      const shared = await scene.get(maps, 'default', 'shared');
      assert.deepEqual(shared.metadata.ownerReferences, [refTo(other)]);
    });

    it('deletes owners that own each other', async () => {
      const block = { blockOwnerDeletion: true };
      for (const name of ['a', 'b', 'c']) await map(name);
      const own = async (dependent: string, owner: string) => {
        const reference = refTo(await scene.get(maps, 'default', owner), block);
        await scene.update(maps, 'default', dependent, (live) => (live.metadata.ownerReferences = [reference]));
      };
      await own('a', 'c');
      await own('b', 'a');
      await own('c', 'b');
      const self = await map('self');
      await scene.update(maps, 'default', 'self', (live) => (live.metadata.ownerReferences = [refTo(self, block)]));
      await collect();
      await remove('a', 'Foreground');
      await remove('self', 'Foreground');
      await untilMaps();
    });

    it('can be changed to background while it waits', async () => {
      const owner = await map('owner');
      await map('dependent', [refTo(owner, { blockOwnerDeletion: true })], [hold]);
      await collect();
      await remove('owner', 'Foreground');
      await untilDeleting('dependent');
      await remove('owner', 'Background');
      await untilMaps('dependent');
    });

    it('is not held up by objects of other namespaces', async () => {
      await scene.create('namespaces', { metadata: { name: 'elsewhere' } });
      const owner = await map('owner');
      const ownerReferences = [refTo(owner, { blockOwnerDeletion: true })];
      const metadata = { name: 'stranger', namespace: 'elsewhere', ownerReferences, finalizers: [hold] };
      await scene.create(maps, { metadata });
      await collect();
      await untilDeleting('stranger');
      await remove('owner', 'Foreground');
      await untilMaps('stranger');
    });
  });

  describe('orphan', () => {
    it('takes the owner out of its dependents, then lets it go', async () => {
      const [owner, other] = [await map('owner'), await map('other')];
      await map('plain', [refTo(owner)]);
      await map('shared', [refTo(owner), refTo(other)]);
      const plain = await scene.get(maps, 'default', 'plain');
      await map('grandchild', [refTo(plain)]);
      await remove('owner', 'Orphan');
      await collect();
      await untilMaps('grandchild', 'other', 'plain', 'shared');
      const ownersOf = async (name: string) => (await scene.get(maps, 'default', name)).metadata.ownerReferences;
      assert.equal(await ownersOf('plain'), undefined);
      assert.deepEqual(await ownersOf('shared'), [refTo(other)]);
      assert.deepEqual(await ownersOf('grandchild'), [refTo(plain)]);
    });

    it('is what a finalizer of the client asks for', async () => {
      const owner = await map('owner', [], ['orphan']);
      const middle = await map('middle', [refTo(owner)], ['orphan']);
      await map('leaf', [refTo(middle)]);
      await collect();
      await remove('owner');
      const middleLeft = await untilMap('middle', 'is free', (it) => it.metadata.ownerReferences === undefined);
      assert.equal(middleLeft.metadata.deletionTimestamp, undefined);
      const last = await map('last');
      await scene.update(maps, 'default', 'middle', (live) => (live.metadata.ownerReferences = [refTo(last)]));
      await remove('last');
      await untilMaps('leaf');
      assert.equal((await scene.get(maps, 'default', 'leaf')).metadata.ownerReferences, undefined);
    });

    it('goes on with the others when some dependents cannot be changed', async () => {
      const owner = await map('owner');
      for (let i = 0; i < 20; i++) await map(`firm-${i}`, [refTo(owner)]);
      await map('free', [refTo(owner)]);
      let isFirm = true;
      const admission: WriteAdmission = {
        ...openAdmission,
        admit: async (_write, object) => {
          if (isFirm && object?.metadata.name?.startsWith('firm')) throw new Error('nobody changes this');
          return object;
        },
      };
      await scene.run(['garbagecollector'], undefined, admission);
      await remove('owner', 'Orphan');
      await untilMap('free', 'has no owner', ({ metadata }) => metadata.ownerReferences === undefined);
      assert.ok(await scene.find(maps, 'default', 'owner'), 'the owner waits for the others');
      isFirm = false;
      await scene.until(maps, 'the owner is gone', (objects) => objects.length === 21);
      for (let i = 0; i < 20; i++) {
        assert.equal((await scene.get(maps, 'default', `firm-${i}`)).metadata.ownerReferences, undefined);
      }
    });

    it('leaves other finalizers alone', async () => {
      const owner = await map('owner', [], [hold]);
      await map('dependent', [refTo(owner)]);
      await collect();
      await remove('owner', 'Orphan');
      await untilMap('owner', 'only held', (it) => JSON.stringify(it.metadata.finalizers) === JSON.stringify([hold]));
      assert.equal((await scene.get(maps, 'default', 'dependent')).metadata.ownerReferences, undefined);
      await letGo('owner');
      await untilMaps('dependent');
    });

    it('is the default of jobs', async () => {
      const spec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } };
      const job = await scene.create('jobs.batch', { metadata: { name: 'j', namespace: 'default' }, spec });
      await map('kept', [refTo(job)]);
      await collect();
      await scene.delete('jobs.batch', 'default', 'j');
      await scene.until('jobs.batch', 'the job is gone', (jobs) => jobs.length === 0);
      await untilMaps('kept');
    });
  });

  it('works on: two collectors at once, one stopped in the middle, and one that goes on', async () => {
    const root = await map('root');
    const block = { blockOwnerDeletion: true };
    for (let i = 0; i < 20; i++) {
      const child = await map(`child-${i}`, [refTo(root, block)]);
      for (let j = 0; j < 5; j++) await map(`leaf-${i}-${j}`, [refTo(child, block)]);
    }
    const kept = await map('kept');
    for (let i = 0; i < 20; i++) await map(`orphan-${i}`, [refTo(kept)]);
    const [first] = await Promise.all([collect(), collect()]);
    await remove('root', 'Foreground');
    await remove('kept', 'Orphan');
    await scene.until(maps, 'some are gone', (objects) => objects.length < 100);
    await first.stop();
    await collect();
    await untilMaps(...Array.from({ length: 20 }, (_, i) => `orphan-${i}`));
    for (let i = 0; i < 20; i++) {
      assert.equal((await scene.get(maps, 'default', `orphan-${i}`)).metadata.ownerReferences, undefined);
    }
    assert.deepEqual(scene.logged, []);
  });
});
