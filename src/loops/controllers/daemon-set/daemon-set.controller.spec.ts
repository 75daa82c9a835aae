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
import { type StoredDaemonSet, type StoredNode, targetNode } from './daemon-pods.js';

const sets = 'daemonsets.apps';
const labels = { app: 'agent' };

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

/** The daemon set `agent` of a namespace, with its pods and revisions. */
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

  /** Creates the set. Its pods choose nodes that are labelled with the namespace, unless `podSpec` selects others. */
  create(spec: object = {}, podSpec: object = { nodeSelector: { of: this.namespace } }): Promise<StoredDaemonSet> {
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'img:1' }], ...podSpec } };
    return this.scene.create<StoredDaemonSet>(sets, {
      metadata: { name: 'agent', namespace: this.namespace },
      spec: { selector: { matchLabels: labels }, template, ...spec },
    });
  }

  addNode(name: string, spec: object = {}): Promise<StoredNode> {
    return this.scene.create<StoredNode>('nodes', { metadata: { name, labels: { of: this.namespace } }, spec });
  }

  async addNodes(...names: string[]): Promise<void> {
    for (const name of names) await this.addNode(name);
  }

  change(change: (spec: StoredDaemonSet['spec']) => void): Promise<StoredDaemonSet> {
    return this.scene.update<StoredDaemonSet>(sets, this.namespace, 'agent', ({ spec }) => change(spec));
  }

  setImage(image: string): Promise<StoredDaemonSet> {
    return this.change(({ template }) => {
      const [container] = template.spec?.containers ?? [];
      if (container) container.image = image;
    });
  }

  /** Waits until there are pods for these nodes, in order; a node may end with `=image`. */
  pods(expected: string): Promise<StoredPod[]> {
    return this.scene.until<StoredPod, StoredPod[]>('pods', `pods for ${expected}`, (all) => {
      const mine = all.filter(({ metadata }) => metadata.namespace === this.namespace);
      const text = (pod: StoredPod) =>
        expected.includes('=') ? `${targetNode(pod)}=${pod.spec.containers?.[0]?.image}` : `${targetNode(pod)}`;
      return mine.map(text).sort().join(' ') === expected && mine;
    });
  }

  status(what: string, look: (status: StoredDaemonSet['status']) => boolean): Promise<StoredDaemonSet> {
    return this.scene.until<StoredDaemonSet, StoredDaemonSet>(sets, what, (all) =>
      all.find(({ metadata, status }) => {
        return (
          metadata.namespace === this.namespace && status.observedGeneration === metadata.generation && look(status)
        );
      }),
    );
  }

  updated(count: number): Promise<StoredDaemonSet> {
    return this.status(`${count} updated`, ({ updatedNumberScheduled = 0, numberAvailable = 0 }) => {
      return updatedNumberScheduled === count && numberAvailable === count;
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

  event(reason: string): Promise<Event> {
    return this.scene.until<Event & ApiObject, Event>('events', `an event ${reason}`, (all) =>
      all.find((event) => event.metadata.namespace === this.namespace && event.reason === reason),
    );
  }
}

describe('daemon sets', () => {
  let scene: LoopScene;

  before(async () => {
    scene = await LoopScene.start({ postgres });
    await scene.run(['daemonset']);
  });
  after(() => scene.end());

  it('get a pod for each node, which tolerates what befalls nodes', async () => {
    const place = await Place.make(scene, 'one');
    await place.addNodes('one-1', 'one-2');
    const set = await place.create(
      {},
      { nodeSelector: { of: 'one' }, tolerations: [{ key: 'x', operator: 'Exists' }] },
    );
    const pods = await place.pods('one-1 one-2');
    const pod = pods.find((each) => targetNode(each) === 'one-1');
    assert.match(pod?.metadata.name ?? '', /^agent-[a-z0-9]{5}$/);
    const [revision] = await place.revisions(1);
    const hash = revision?.metadata.labels?.['controller-revision-hash'];
    assert.deepEqual(pod?.metadata.labels, {
      app: 'agent',
      'controller-revision-hash': hash,
      'pod-template-generation': '1',
    });
    assert.equal(revision?.metadata.name, `agent-${hash}`);
    const text = JSON.stringify(revision?.data);
    assert.ok(text.startsWith('{"spec":{"template":{"$patch":"replace","metadata":'), text);
    assert.match(text, /"containers":\[\{"image":/, 'keys are sorted, as in the texts that upstream compares');
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: set.metadata.uid };
    assert.deepEqual(pod?.metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    assert.equal(pod?.spec.nodeName, undefined, 'the scheduler places it');
    assert.deepEqual(pod?.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['one-1'] }] }],
    });
    assert.deepEqual(
      pod?.spec.tolerations?.map(({ key, effect }) => `${key} ${effect}`),
      [
        'x undefined',
        'node.kubernetes.io/not-ready NoExecute',
        'node.kubernetes.io/unreachable NoExecute',
        'node.kubernetes.io/disk-pressure NoSchedule',
        'node.kubernetes.io/memory-pressure NoSchedule',
        'node.kubernetes.io/pid-pressure NoSchedule',
        'node.kubernetes.io/unschedulable NoSchedule',
      ],
    );
    const { status } = await place.status(
      'two on their way',
      ({ currentNumberScheduled }) => currentNumberScheduled === 2,
    );
    assert.deepEqual(status, {
      currentNumberScheduled: 2,
      numberMisscheduled: 0,
      desiredNumberScheduled: 2,
      numberReady: 0,
      observedGeneration: 1,
      updatedNumberScheduled: 2,
      numberUnavailable: 2,
    });
    for (const { metadata } of pods) await place.node.ready(metadata.name ?? '');
    const ready = await place.updated(2);
    assert.equal(ready.status.numberUnavailable, undefined);
    assert.equal(ready.status.numberReady, 2);
    assert.equal((await place.event('SuccessfulCreate')).source?.component, 'daemon-set-controller');
  });

  it('follow nodes that come, go, change their labels and get taints', async () => {
    const place = await Place.make(scene, 'nodes');
    await place.node.work();
    await place.addNodes('nodes-1');
    await place.create();
    await place.pods('nodes-1');
    await place.addNodes('nodes-2');
    await place.pods('nodes-1 nodes-2');
    await place.addNode('nodes-3', { taints: [{ key: 'a', effect: 'NoSchedule' }] });
    await place.addNode('nodes-4', { unschedulable: true });
    await place.pods('nodes-1 nodes-2 nodes-4');
    await scene.update<StoredNode>('nodes', '', 'nodes-1', ({ metadata }) => {
      metadata.labels = {};
    });
    await place.pods('nodes-2 nodes-4');
    await scene.update<StoredNode>('nodes', '', 'nodes-2', ({ spec }) => {
      spec.taints = [{ key: 'a', effect: 'NoSchedule' }];
    });
    await place.status('one misplaced', ({ numberMisscheduled, desiredNumberScheduled }) => {
      return numberMisscheduled === 1 && desiredNumberScheduled === 1;
    });
    await place.pods('nodes-2 nodes-4');
    await scene.update<StoredNode>('nodes', '', 'nodes-2', ({ spec }) => {
      spec.taints = [{ key: 'a', effect: 'NoExecute' }];
    });
    await place.pods('nodes-4');
    await scene.delete('nodes', '', 'nodes-4');
    // The pod waits for its node by name, and no scheduler has placed it.
    await place.pods('');
  });

  it('roll out node by node, keep a history and go back', async () => {
    const place = await Place.make(scene, 'rolling');
    await place.node.work();
    await place.addNodes('rolling-1', 'rolling-2', 'rolling-3');
    await place.create({ revisionHistoryLimit: 1 });
    await place.updated(3);
    await place.setImage('img:2');
    await place.updated(3);
    await place.pods('rolling-1=img:2 rolling-2=img:2 rolling-3=img:2');
    const [first, second] = await place.revisions(2);
    assert.deepEqual([first?.revision, second?.revision], [1, 2]);
    await place.setImage('img:1');
    await place.pods('rolling-1=img:1 rolling-2=img:1 rolling-3=img:1');
    const back = await scene.until<StoredRevision, StoredRevision>(
      'controllerrevisions.apps',
      'the first anew',
      (all) => all.find(({ metadata, revision }) => metadata.uid === first?.metadata.uid && revision === 3),
    );
    assert.equal(back.metadata.name, first?.metadata.name);
    await place.setImage('img:3');
    await place.updated(3);
    const left = await place.revisions(2);
    assert.deepEqual(
      left.map(({ revision }) => revision),
      [3, 4],
    );
  });

  it('never miss more pods than allowed', async () => {
    const place = await Place.make(scene, 'limit');
    await place.addNodes('limit-1', 'limit-2', 'limit-3');
    await place.create({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } });
    for (const { metadata } of await place.pods('limit-1 limit-2 limit-3')) await place.node.ready(metadata.name ?? '');
    await place.updated(3);
    await place.setImage('img:2');
    const replaced = await place.pods('limit-1=img:2 limit-2=img:2 limit-3=img:1');
    await place.status('two missing', ({ numberUnavailable }) => numberUnavailable === 2);
    await place.pods('limit-1=img:2 limit-2=img:2 limit-3=img:1');
    const fresh = replaced.find((pod) => targetNode(pod) === 'limit-2');
    await place.node.ready(fresh?.metadata.name ?? '');
    await place.pods('limit-1=img:2 limit-2=img:2 limit-3=img:2');
  });

  it('have two pods on a node during a surge', async () => {
    const place = await Place.make(scene, 'surge');
    await place.addNodes('surge-1', 'surge-2');
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    await place.create({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
    for (const { metadata } of await place.pods('surge-1 surge-2')) await place.node.ready(metadata.name ?? '');
    await place.updated(2);
    await place.setImage('img:2');
    const both = await place.pods('surge-1=img:1 surge-1=img:2 surge-2=img:1');
    const fresh = both.find(({ spec }) => spec.containers?.[0]?.image === 'img:2');
    await place.node.ready(fresh?.metadata.name ?? '');
    const next = await place.pods('surge-1=img:2 surge-2=img:1 surge-2=img:2');
    const last = next.find((pod) => targetNode(pod) === 'surge-2' && pod.spec.containers?.[0]?.image === 'img:2');
    await place.node.ready(last?.metadata.name ?? '');
    await place.pods('surge-1=img:2 surge-2=img:2');
    await place.updated(2);
  });

  it('replace with OnDelete only what somebody deletes', async () => {
    const place = await Place.make(scene, 'ondelete');
    await place.node.work();
    await place.addNodes('ondelete-1', 'ondelete-2');
    await place.create({ updateStrategy: { type: 'OnDelete' } });
    await place.updated(2);
    await place.setImage('img:2');
    await place.status('old ones', ({ updatedNumberScheduled }) => updatedNumberScheduled === undefined);
    const pods = await place.pods('ondelete-1=img:1 ondelete-2=img:1');
    const name = pods.find((pod) => targetNode(pod) === 'ondelete-1')?.metadata.name ?? '';
    await scene.delete('pods', 'ondelete', name, { gracePeriodSeconds: 0 });
    await place.pods('ondelete-1=img:2 ondelete-2=img:1');
  });

  it('adopt pods that match and release those that do not', async () => {
    const place = await Place.make(scene, 'adopt');
    await place.addNodes('adopt-1');
    const spec = { containers: [{ name: 'c', image: 'img:1' }], nodeName: 'adopt-1' };
    await scene.create<StoredPod>('pods', { metadata: { name: 'stray', namespace: 'adopt', labels }, spec });
    const set = await place.create({ updateStrategy: { type: 'OnDelete' } });
    const isOwned = (pods: readonly StoredPod[], owned: boolean) =>
      pods.some(({ metadata: { namespace, name, ownerReferences } }) => {
        return namespace === 'adopt' && name === 'stray' && (ownerReferences?.[0]?.uid === set.metadata.uid) === owned;
      });
    await scene.until<StoredPod, true>('pods', 'adopted', (pods) => isOwned(pods, true));
    await place.pods('adopt-1');
    await scene.update<StoredPod>('pods', 'adopt', 'stray', ({ metadata }) => {
      metadata.labels = { app: 'other' };
    });
    await scene.until<StoredPod, true>('pods', 'released', (pods) => isOwned(pods, false));
    await place.pods('adopt-1 adopt-1');
  });

  it('choose another name for a revision whose name is taken', async () => {
    const place = await Place.make(scene, 'taken');
    const other = await Place.make(scene, 'free');
    await other.create({}, {});
    const [known] = await other.revisions(1);
    const name = known?.metadata.name ?? '';
    await scene.create('controllerrevisions.apps', {
      metadata: { name, namespace: 'taken' },
      data: { a: 'b' },
      revision: 7,
    } as object);
    await place.create({}, {});
    const set = await place.status('a collision', ({ collisionCount }) => collisionCount === 1);
    assert.ok(set);
    await place.revisions(2);
    await scene.delete(sets, 'taken', 'agent');
    await scene.delete(sets, 'free', 'agent');
  });
});

describe('daemon sets and time', () => {
  it('replace failed pods after growing pauses, and wait for minReadySeconds', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      await scene.run(['daemonset']);
      const place = await Place.make(scene, 'slow');
      await place.addNodes('slow-1');
      await place.create({ minReadySeconds: 30 });
      const [first] = await place.pods('slow-1');
      await scene.bind('slow', first?.metadata.name ?? '', 'slow-1');
      await place.node.finish(first?.metadata.name ?? '', 'Failed');
      const another = (than: StoredPod | undefined) =>
        scene.until<StoredPod, StoredPod>('pods', 'another pod', (pods) =>
          pods.find(({ metadata, status }) => metadata.uid !== than?.metadata.uid && status.phase === 'Pending'),
        );
      const removed = (name: string) =>
        scene.until<StoredPod, true>('pods', 'deleting', (pods) =>
          pods.every(({ metadata }) => metadata.name !== name || metadata.deletionTimestamp !== undefined),
        );
      await removed(first?.metadata.name ?? '');
      assert.match(
        (await place.event('FailedDaemonPod')).message ?? '',
        /^Found failed daemon pod slow\/agent-\w+ on node slow-1, will try to kill it$/,
      );
      const second = await another(first);
      await scene.bind('slow', second.metadata.name ?? '', 'slow-1');
      const waits = timers.waiting((ms) => ms > 0 && ms <= 1_000);
      await place.node.finish(second.metadata.name ?? '', 'Failed');
      await waits;
      await scene.pass(1_000);
      await removed(second.metadata.name ?? '');
      const third = await another(second);
      const ready = timers.waiting((ms) => ms > 5_000 && ms <= 30_000);
      await place.node.ready(third.metadata.name ?? '');
      await ready;
      const { status } = await place.status('ready', ({ numberReady }) => numberReady === 1);
      assert.equal(status.numberAvailable, undefined);
      await scene.pass(30_000);
      await place.status('available', ({ numberAvailable }) => numberAvailable === 1);
    } finally {
      await scene.end();
    }
  });
});

describe('daemon sets in several processes', () => {
  it('come out right when two processes work on them', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      await scene.run(['daemonset']);
      await scene.run(['daemonset']);
      const place = await Place.make(scene, 'fight');
      await place.node.work();
      await place.addNodes('f-1', 'f-2', 'f-3', 'f-4');
      await place.create();
      await place.pods('f-1 f-2 f-3 f-4');
      await place.updated(4);
      await place.setImage('img:2');
      await place.pods('f-1=img:2 f-2=img:2 f-3=img:2 f-4=img:2');
      await place.updated(4);
      await place.revisions(2);
    } finally {
      await scene.end();
    }
  });

  it('are finished by another process', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const first = await scene.run(['daemonset']);
      const place = await Place.make(scene, 'takeover');
      await place.addNodes('t-1', 't-2');
      await place.create();
      await place.pods('t-1 t-2');
      await first.stop();
      await place.addNodes('t-3');
      await place.node.work();
      await scene.run(['daemonset']);
      await place.pods('t-1 t-2 t-3');
      await place.updated(3);
      await place.revisions(1);
    } finally {
      await scene.end();
    }
  });

  it('serve five hundred nodes in a few seconds', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const place = await Place.make(scene, 'many');
      const names = Array.from({ length: 500 }, (_, i) => `m-${i}`);
      for (let at = 0; at < names.length; at += 50) {
        await Promise.all(names.slice(at, at + 50).map((name) => place.addNode(name)));
      }
      await scene.run(['daemonset']);
      await place.create();
      await place.status('all have one', ({ currentNumberScheduled }) => currentNumberScheduled === 500);
      await place.pods([...names].sort().join(' '));
    } finally {
      await scene.end();
    }
  });
});
