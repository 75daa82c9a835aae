import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { Place } from '../../../../test/support/place.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { StoredPod } from '../frame/indexes.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { StoredBudget } from './budget-status.js';

const budgets = 'poddisruptionbudgets.policy';
const labels = { app: 'a' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const selector = { matchLabels: labels };

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

/** The budget `guard` of a namespace, and its pods. */
class Guarded {
  private constructor(readonly place: Place) {}

  static async make(scene: LoopScene, namespace: string, spec: object): Promise<Guarded> {
    const place = await Place.make(scene, namespace);
    await scene.create(budgets, { metadata: { name: 'guard', namespace }, spec: { selector, ...spec } } as object);
    return new Guarded(place);
  }

  async pod(
    name: string,
    ready = true,
    owner?: OwnerReference,
    podLabels: Record<string, string> = labels,
  ): Promise<void> {
    const { scene, namespace, node } = this.place;
    const ownerReferences = owner === undefined ? {} : { ownerReferences: [owner] };
    await scene.create('pods', {
      metadata: { name, namespace, labels: podLabels, ...ownerReferences },
      spec: template.spec,
    });
    if (ready) await node.ready(name);
  }

  /** Makes an object of a kind that controls pods, and resolves with the reference to it. */
  async controller(resource: string, spec: object): Promise<OwnerReference> {
    const { scene, namespace } = this.place;
    const {
      kind = '',
      apiVersion = '',
      metadata,
    } = await scene.create<ApiObject>(resource, {
      metadata: { name: 'owner', namespace },
      spec,
    } as object);
    return { kind, apiVersion, name: 'owner', uid: metadata.uid ?? '', controller: true };
  }

  /** Waits for `[expected, desired, healthy, allowed]` in the status. */
  async counts(...wanted: readonly [number, number, number, number]): Promise<StoredBudget> {
    return this.place.one<StoredBudget>(budgets, `counts ${wanted}`, ({ metadata, status }) => {
      const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed, observedGeneration } = status;
      const actual = [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed];
      return observedGeneration === metadata.generation && String(actual) === String(wanted);
    });
  }

  evict(name: string): Promise<boolean> {
    return this.place.scene.post('pods', this.place.namespace, name, 'eviction', {});
  }
}

function refusal(text: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof StatusError);
    assert.equal(error.code, 429);
    assert.match(JSON.stringify(error.details?.causes), text);
    return true;
  };
}

describe('disruption budgets', () => {
  let scene: LoopScene;

  before(async () => {
    scene = await LoopScene.start({ postgres });
    await scene.run(['disruption']);
  });
  after(() => scene.end());

  it('count the pods that they select, as these come, get ready and go', async () => {
    const guarded = await Guarded.make(scene, 'count', { minAvailable: 1 });
    await guarded.counts(0, 1, 0, 0);
    const [event] = await guarded.place.events('NoPods');
    assert.equal(event?.message, 'No matching pods found');
    assert.equal(event?.source?.component, 'controllermanager');
    await guarded.pod('a', false);
    await guarded.pod('b', false);
    await guarded.pod('other', true, undefined, { app: 'b' });
    await guarded.counts(2, 1, 0, 0);
    await guarded.place.node.ready('a');
    const { status } = await guarded.counts(2, 1, 1, 0);
    assert.equal(status.conditions?.[0]?.reason, 'InsufficientPods');
    await guarded.place.node.ready('b');
    const both = await guarded.counts(2, 1, 2, 1);
    assert.equal(both.status.conditions?.[0]?.reason, 'SufficientPods');
    await scene.update<StoredPod>('pods', 'count', 'a', ({ metadata }) => {
      metadata.labels = { app: 'b' };
    });
    await guarded.counts(1, 1, 1, 0);
  });

  it('follow the pods of very many budgets, and one that another budget selects from now on', async () => {
    const guarded = await Guarded.make(scene, 'many', { minAvailable: 1 });
    const namespace = 'many';
    for (let i = 0; i < 40; i++) {
      const own = { matchLabels: { app: i < 35 ? 'a' : 'b' } };
      await scene.create(budgets, { metadata: { name: `g${i}`, namespace }, spec: { selector: own } } as object);
    }
    const healthy = (label: string, wanted: number, count: number) =>
      scene.until<StoredBudget, true>(budgets, `${count} budgets of ${label} with ${wanted} pods`, (found) => {
        const right = found.filter(
          ({ metadata, spec, status }) =>
            metadata.namespace === namespace &&
            spec.selector?.matchLabels?.app === label &&
            status.currentHealthy === wanted,
        );
        return right.length === count;
      });
    for (const name of ['a', 'b']) await guarded.pod(name);
    await healthy('a', 2, 36);
    await scene.update<StoredPod>('pods', namespace, 'a', ({ metadata }) => {
      metadata.labels = { app: 'b' };
    });
    await healthy('a', 1, 36);
    await healthy('b', 1, 5);
  });

  it('follow their own changes', async () => {
    const guarded = await Guarded.make(scene, 'change', { minAvailable: 1 });
    for (const name of ['a', 'b', 'c']) await guarded.pod(name);
    await guarded.counts(3, 1, 3, 2);
    await scene.update<StoredBudget>(budgets, 'change', 'guard', ({ spec }) => {
      spec.minAvailable = 3;
    });
    await guarded.counts(3, 3, 3, 0);
    await scene.update<StoredBudget>(budgets, 'change', 'guard', ({ spec }) => {
      spec.selector = {};
    });
    await guarded.pod('d', true, undefined, { any: 'thing' });
    await guarded.counts(4, 3, 4, 1);
    await scene.update<StoredBudget>(budgets, 'change', 'guard', ({ spec }) => {
      delete spec.selector;
    });
    await guarded.counts(0, 3, 0, 0);
  });

  it('let pods be evicted until the bound is reached, and again when others are ready', async () => {
    const guarded = await Guarded.make(scene, 'evict', { minAvailable: 2 });
    for (const name of ['a', 'b', 'c', 'd']) await guarded.pod(name);
    await guarded.counts(4, 2, 4, 2);
    assert.equal(await guarded.evict('a'), true);
    await guarded.counts(3, 2, 3, 1);
    assert.equal(await guarded.evict('b'), true);
    const { status } = await guarded.counts(2, 2, 2, 0);
    assert.equal(status.disruptedPods, undefined);
    await assert.rejects(guarded.evict('c'), refusal(/guard needs 2 healthy pods and has 2 currently/));
    await guarded.pod('e');
    await guarded.counts(3, 2, 3, 1);
    assert.equal(await guarded.evict('c'), true);
  });

  it('let an unready pod go when enough others are healthy, or always if they say so', async () => {
    const guarded = await Guarded.make(scene, 'unready', { minAvailable: 1 });
    await guarded.pod('a', false);
    await guarded.pod('b');
    await guarded.place.node.unready('a');
    await guarded.counts(2, 1, 1, 0);
    assert.equal(await guarded.evict('a'), true);
    await guarded.counts(1, 1, 1, 0);
    await guarded.place.node.unready('b');
    await guarded.counts(1, 1, 0, 0);
    await assert.rejects(guarded.evict('b'), refusal(/needs 1 healthy pods and has 0 currently/));
    await scene.update<StoredBudget>(budgets, 'unready', 'guard', ({ spec }) => {
      spec.unhealthyPodEvictionPolicy = 'AlwaysAllow';
    });
    await guarded.counts(1, 1, 0, 0);
    assert.equal(await guarded.evict('b'), true);
  });

  it('ask the controllers of the pods how many there should be', async () => {
    const guarded = await Guarded.make(scene, 'owners', { maxUnavailable: 1 });
    const owner = await guarded.controller('replicasets.apps', { replicas: 4, selector, template });
    await guarded.pod('a', true, owner);
    await guarded.pod('b', true, owner);
    await guarded.counts(4, 3, 2, 0);
    await scene.update<ApiObject & { spec: { replicas: number } }>(
      'replicasets.apps',
      'owners',
      'owner',
      ({ spec }) => {
        spec.replicas = 2;
      },
    );
    await guarded.counts(2, 1, 2, 1);
  });

  const claims = { serviceName: 's', replicas: 5, selector, template };
  const others: readonly (readonly [string, string, object])[] = [
    ['stateful sets', 'statefulsets.apps', claims],
    ['replication controllers', 'replicationcontrollers', { replicas: 5, selector: labels, template }],
    ['other kinds with a scale', 'deployments.apps', { replicas: 5, selector, template }],
  ];
  for (const [what, resource, spec] of others) {
    it(`ask ${what} too`, async () => {
      const guarded = await Guarded.make(scene, resource.split('.')[0] ?? '', { minAvailable: '50%' });
      const owner = await guarded.controller(resource, spec);
      await guarded.pod('a', true, owner);
      await guarded.counts(5, 3, 1, 0);
    });
  }

  it('count the replica sets of a deployment as that', async () => {
    const guarded = await Guarded.make(scene, 'deployed', { minAvailable: '100%' });
    const owner = await guarded.controller('deployments.apps', { replicas: 3, selector, template });
    for (const name of ['old', 'new']) {
      const set = await scene.create<ApiObject>('replicasets.apps', {
        metadata: { name, namespace: 'deployed', ownerReferences: [owner] },
        spec: { replicas: 2, selector, template },
      } as object);
      const reference = {
        kind: 'ReplicaSet',
        apiVersion: 'apps/v1',
        name,
        uid: set.metadata.uid ?? '',
        controller: true,
      };
      await guarded.pod(`pod-of-${name}`, true, reference);
    }
    await guarded.counts(3, 3, 2, 0);
  });

  it('warn of pods that nobody controls', async () => {
    const guarded = await Guarded.make(scene, 'unmanaged', { maxUnavailable: 1 });
    await guarded.pod('a');
    await guarded.counts(0, 0, 1, 0);
    const [event] = await guarded.place.events('UnmanagedPods');
    assert.equal(event?.type, 'Warning');
  });

  it('allow nothing and say why when nobody knows how many there should be', async () => {
    const guarded = await Guarded.make(scene, 'failed', { maxUnavailable: 1 });
    const owner = await guarded.controller('daemonsets.apps', { selector, template });
    await guarded.pod('a', true, owner);
    const message = 'daemonsets.apps does not implement the scale subresource';
    const { status } = await guarded.place.one<StoredBudget>(budgets, 'a fault', ({ status: s }) =>
      s.conditions?.some(({ reason }) => reason === 'SyncFailed'),
    );
    assert.equal(status.conditions?.[0]?.message, message);
    assert.equal(status.conditions?.[0]?.status, 'False');
    assert.equal(status.disruptionsAllowed, 0);
    const [event] = await guarded.place.events('CalculateExpectedPodCountFailed');
    assert.equal(event?.message, `Failed to calculate the number of expected pods: ${message}`);
    await scene.update<StoredBudget>(budgets, 'failed', 'guard', ({ spec }) => {
      delete spec.maxUnavailable;
      spec.minAvailable = 0;
    });
    const well = await guarded.counts(1, 0, 1, 1);
    assert.equal(well.status.conditions?.[0]?.reason, 'SufficientPods');
  });

  const missing: readonly (readonly [string, OwnerReference, string])[] = [
    [
      'gone',
      { kind: 'ReplicaSet', apiVersion: 'apps/v1', name: 'no', uid: 'u', controller: true },
      'found no controllers for pod "a"',
    ],
    [
      'unknown',
      { kind: 'Thing', apiVersion: 'x.example/v1', name: 'no', uid: 'u', controller: true },
      'no matches for kind "Thing" in version "x.example/v1"',
    ],
  ];
  for (const [what, owner, message] of missing) {
    it(`say so when a controller is ${what}`, async () => {
      const guarded = await Guarded.make(scene, what, { maxUnavailable: 1 });
      await guarded.pod('a', true, owner);
      await guarded.place.one<StoredBudget>(budgets, message, ({ status }) =>
        status.conditions?.some((condition) => condition.message === message),
      );
    });
  }
});

describe('disruption budgets in time', () => {
  it('count a pod again that was let go and stays', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      const guarded = await Guarded.make(scene, 'stay', { minAvailable: 1 });
      for (const name of ['a', 'b', 'c']) await guarded.pod(name);
      await scene.run(['disruption']);
      await guarded.counts(3, 1, 3, 2);
      await scene.update<StoredBudget>(
        budgets,
        'stay',
        'guard',
        ({ status }) => {
          status.disruptionsAllowed -= 1;
          status.disruptedPods = { a: formatTime(timers.now()) };
        },
        'status',
      );
      await guarded.counts(3, 1, 2, 1);
      await timers.waiting((ms) => ms === 120_000);
      await scene.pass(119_000);
      await guarded.counts(3, 1, 2, 1);
      await scene.pass(1000);
      const { status } = await guarded.counts(3, 1, 3, 2);
      assert.equal(status.disruptedPods, undefined);
      const [event] = await guarded.place.events('NotDeleted');
      assert.equal(event?.involvedObject?.name, 'a');
      assert.equal(event?.message, "Pod was expected by PDB stay/guard to be deleted but it wasn't");
    } finally {
      await scene.end();
    }
  });

  it('take the mark back from a pod that was to go and stays', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      await scene.run(['disruption']);
      const guarded = await Guarded.make(scene, 'mark', { minAvailable: 1 });
      await guarded.pod('a');
      await scene.update<StoredPod>(
        'pods',
        'mark',
        'a',
        ({ status }) => {
          const lastTransitionTime = formatTime(timers.now());
          const reason = 'EvictionByEvictionAPI';
          const mark = {
            type: 'DisruptionTarget',
            status: 'True' as const,
            reason,
            lastProbeTime: null,
            lastTransitionTime,
          };
          status.conditions = [...(status.conditions ?? []), mark];
        },
        'status',
      );
      await timers.waiting((ms) => ms === 120_000);
      await scene.pass(120_000);
      const pod = await guarded.place.one<StoredPod>('pods', 'no mark', ({ status }) =>
        status.conditions?.some(({ type, status: value }) => type === 'DisruptionTarget' && value === 'False'),
      );
      const mark = pod.status.conditions?.find(({ type }) => type === 'DisruptionTarget');
      assert.equal(mark?.lastTransitionTime, '2030-01-01T00:02:00Z');
      assert.equal(mark?.reason, undefined);
      assert.equal(mark?.observedGeneration, pod.metadata.generation);
    } finally {
      await scene.end();
    }
  });
});

describe('two processes with the loop of disruption budgets', () => {
  it('agree, and let no more pods go than allowed', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      await Promise.all([scene.run(['disruption']), scene.run(['disruption'])]);
      const guarded = await Guarded.make(scene, 'fight', { minAvailable: 12 });
      const names = Array.from({ length: 24 }, (_, i) => `p${i}`);
      for (const name of names) await guarded.pod(name);
      await guarded.counts(24, 12, 24, 12);
      const outcomes = await Promise.allSettled(names.map((name) => guarded.evict(name)));
      await guarded.counts(12, 12, 12, 0);
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 12);
    } finally {
      await scene.end();
    }
  });

  it('go on where the other was stopped', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const first = await scene.run(['disruption']);
      const guarded = await Guarded.make(scene, 'relay', { minAvailable: 1 });
      await guarded.pod('a');
      await guarded.pod('b');
      await guarded.counts(2, 1, 2, 1);
      await first.stop();
      assert.equal(await guarded.evict('a'), true);
      await assert.rejects(guarded.evict('b'), refusal(/guard needs 1 healthy pods/));
      await guarded.pod('c');
      await scene.run(['disruption']);
      await guarded.counts(2, 1, 2, 1);
    } finally {
      await scene.end();
    }
  });
});
