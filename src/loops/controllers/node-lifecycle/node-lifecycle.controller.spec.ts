import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import type { Lease } from '../../../objects/apis/coordination/v1/lease.types.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { StoredNode } from './node-silence.js';

type StoredEvent = Event & ApiObject;

const leases = 'control-node-lease';
const graceMs = 50_000;
const startupMs = 60_000;

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

/** The nodes and pods of one database, and the clock. */
class Scene {
  private constructor(
    readonly loops: LoopScene,
    readonly timers: ManualTimers,
  ) {}

  static async start(): Promise<Scene> {
    const timers = new ManualTimers();
    const loops = await LoopScene.start({ postgres, timers });
    await loops.create('namespaces', { metadata: { name: leases } });
    return new Scene(loops, timers);
  }

  async node(
    name: string,
    ready: 'True' | 'False' | 'never told' = 'True',
    { zone = 'z', spec = {} } = {},
  ): Promise<void> {
    const time = formatTime(this.timers.now());
    const condition = { type: 'Ready', status: ready, lastHeartbeatTime: time, lastTransitionTime: time };
    await this.loops.create<StoredNode>('nodes', {
      metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
      spec,
      status: ready === 'never told' ? {} : { conditions: [condition as never] },
    });
  }

  async lease(name: string): Promise<void> {
    const renewTime = new Date(this.timers.now()).toISOString().replace('Z', '000Z');
    await this.loops.create('leases.coordination', { metadata: { name, namespace: leases }, spec: { renewTime } });
  }

  async renew(name: string): Promise<void> {
    await this.loops.update<Lease & ApiObject>('leases.coordination', leases, name, (lease) => {
      lease.spec.renewTime = new Date(this.timers.now()).toISOString().replace('Z', '000Z');
    });
  }

  async says(name: string, type: string, status: string): Promise<void> {
    await this.loops.update<StoredNode>(
      'nodes',
      '',
      name,
      (node) => {
        const time = formatTime(this.timers.now());
        const others = (node.status.conditions ?? []).filter((condition) => condition.type !== type);
        const condition = { type, status, lastHeartbeatTime: time, lastTransitionTime: time };
        node.status.conditions = [...others, condition as never];
      },
      'status',
    );
  }

  async pod(name: string, nodeName: string, spec: object = {}): Promise<void> {
    await this.loops.create<StoredPod>('pods', {
      metadata: { name, namespace: 'default' },
      spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...spec },
    });
    await this.contradict(name);
  }

  /** The agent of a node says that a pod is ready. */
  async contradict(name: string): Promise<void> {
    await this.loops.update<StoredPod>(
      'pods',
      'default',
      name,
      ({ status }) => {
        status.phase = 'Running';
        status.conditions = [{ type: 'Ready', status: 'True' } as never];
      },
      'status',
    );
  }

  /** Waits for a node whose taints, as `key:effect` without the prefix, are these. */
  tainted(name: string, ...taints: readonly string[]): Promise<StoredNode> {
    return this.loops.until<StoredNode, StoredNode>('nodes', `${name} with ${taints}`, (all) => {
      const node = all.find(({ metadata }) => metadata.name === name);
      return node !== undefined && taintsOf(node) === [...taints].sort().join() && node;
    });
  }

  /** Waits until this many nodes lose their pods, and resolves with these nodes. */
  async evicting(count: number): Promise<StoredNode[]> {
    return this.loops.until<StoredNode, StoredNode[]>('nodes', `${count} nodes lose their pods`, (all) => {
      const found = all.filter((node) => taintsOf(node).includes('NoExecute'));
      return found.length === count && found;
    });
  }

  event(reason: string, kind: string): Promise<StoredEvent> {
    return this.loops.until<StoredEvent, StoredEvent>('events', reason, (all) =>
      all.find((event) => event.reason === reason && event.involvedObject.kind === kind),
    );
  }

  pods(what: string, look: (names: string) => boolean): Promise<string> {
    return this.loops.until<StoredPod, string>('pods', what, (all) => {
      const names = all
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name)
        .sort()
        .join();
      return look(names) && names;
    });
  }

  /** Waits until the loop waits for something that is due in the given number of milliseconds. */
  async waits(ms: number): Promise<void> {
    await this.timers.waiting((_wait, leftMs) => leftMs === ms);
  }
}

function taintsOf(node: StoredNode): string {
  return (node.spec.taints ?? [])
    .map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`)
    .sort()
    .join();
}

async function inScene(work: (scene: Scene) => Promise<void>): Promise<void> {
  const scene = await Scene.start();
  try {
    await work(scene);
  } finally {
    await scene.loops.end();
  }
}

describe('the nodelifecycle loop', () => {
  it('marks a silent node, its pods and its taints, and takes that back', () =>
    inScene(async (scene) => {
      await scene.node('a');
      await scene.pod('p', 'a');
      await scene.loops.run(['nodelifecycle']);
      const registered = await scene.event('RegisteredNode', 'Node');
      assert.equal(registered.message, 'Node a event: Registered Node a in Controller');
      await scene.waits(graceMs);
      await scene.loops.pass(1000);
      await scene.node('other');
      await scene.lease('other');
      await scene.waits(graceMs);
      await scene.loops.pass(graceMs - 2000);
      await scene.renew('other');
      await scene.waits(graceMs);
      await scene.loops.pass(1000);
      const node = await scene.tainted('a', 'unreachable:NoSchedule', 'unreachable:NoExecute');
      const ready = node.status.conditions?.find(({ type }) => type === 'Ready');
      assert.equal(ready?.status, 'Unknown');
      assert.equal(ready?.reason, 'NodeStatusUnknown');
      assert.equal(ready?.message, 'Kubelet stopped posting node status.');
      const missing = node.status.conditions?.find(({ type }) => type === 'MemoryPressure');
      assert.equal(missing?.reason, 'NodeStatusNeverUpdated');
      assert.ok(node.spec.taints?.every(({ timeAdded }) => timeAdded));
      await scene.loops.until<StoredPod, true>('pods', 'the pod that is not ready', ([pod]) =>
        pod?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'False'),
      );
      await scene.event('NodeNotReady', 'Node');
      await scene.event('NodeNotReady', 'Pod');
      await scene.tainted('other');
      await scene.says('a', 'Ready', 'True');
      await scene.tainted('a');
    }));

  it('marks a pod once while its node is not ready, even if an agent that lives contradicts', () =>
    inScene(async (scene) => {
      await scene.node('a');
      await scene.node('other');
      await scene.lease('other');
      await scene.pod('p', 'a');
      await scene.loops.run(['nodelifecycle']);
      const isReady = (wanted: boolean) =>
        scene.loops.until<StoredPod, true>('pods', `p is ${wanted ? '' : 'not '}ready`, (all) => {
          const found = all.find(({ metadata }) => metadata.name === 'p')?.status.conditions;
          return found?.some(({ type, status }) => type === 'Ready' && (status === 'True') === wanted);
        });
      await scene.says('a', 'Ready', 'False');
      await isReady(false);
      await scene.contradict('p');
      // The loop has seen the pod when it has done what came after it.
      await scene.pod('later', 'a');
      await scene.says('a', 'MemoryPressure', 'True');
      await scene.tainted('a', 'memory-pressure:NoSchedule', 'not-ready:NoExecute', 'not-ready:NoSchedule');
      await isReady(true);
      // The next time that the node is not ready, it counts again.
      await scene.says('a', 'MemoryPressure', 'False');
      await scene.says('a', 'Ready', 'True');
      await scene.tainted('a');
      await scene.says('a', 'Ready', 'False');
      await isReady(false);
    }));

  it('gives a node that never told its status time to start', () =>
    inScene(async (scene) => {
      await scene.node('new', 'never told');
      await scene.node('other');
      await scene.lease('other');
      await scene.loops.run(['nodelifecycle']);
      await scene.waits(startupMs);
      await scene.tainted('new', 'not-ready:NoSchedule');
      await scene.loops.pass(startupMs / 2);
      await scene.renew('other');
      await scene.waits(graceMs);
      await scene.loops.pass(startupMs / 2 - 1000);
      await scene.tainted('new', 'not-ready:NoSchedule');
      await scene.loops.pass(1000);
      const node = await scene.tainted('new', 'unreachable:NoSchedule', 'unreachable:NoExecute');
      assert.deepEqual(
        new Set(node.status.conditions?.map(({ reason }) => reason)),
        new Set(['NodeStatusNeverUpdated']),
      );
    }));

  it('lets taints follow conditions and the spec, and leaves those of others alone', () =>
    inScene(async (scene) => {
      const taints = [{ key: 'example.com/mine', effect: 'NoSchedule' }];
      await scene.node('a', 'True', { spec: { unschedulable: true, taints } });
      await scene.loops.run(['nodelifecycle']);
      await scene.tainted('a', 'example.com/mine:NoSchedule', 'unschedulable:NoSchedule');
      for (const [type, taint] of [
        ['MemoryPressure', 'memory-pressure'],
        ['DiskPressure', 'disk-pressure'],
        ['PIDPressure', 'pid-pressure'],
        ['NetworkUnavailable', 'network-unavailable'],
      ] as const) {
        await scene.says('a', type, 'True');
        await scene.tainted('a', 'example.com/mine:NoSchedule', 'unschedulable:NoSchedule', `${taint}:NoSchedule`);
        await scene.says('a', type, 'False');
        await scene.tainted('a', 'example.com/mine:NoSchedule', 'unschedulable:NoSchedule');
      }
    }));

  it('drives pods away from one node after another', () =>
    inScene(async (scene) => {
      for (const name of ['a', 'b']) await scene.node(name, 'False');
      for (const name of ['c', 'd']) await scene.node(name, 'True');
      await scene.loops.run(['nodelifecycle']);
      await scene.evicting(1);
      await scene.waits(10_000);
      await scene.loops.pass(9999);
      await scene.evicting(1);
      await scene.loops.pass(1);
      const times = (await scene.evicting(2)).map(({ spec }) => {
        const taint = spec.taints?.find(({ effect }) => effect === 'NoExecute');
        return Date.parse(taint?.timeAdded ?? '');
      });
      assert.equal(Math.abs((times[0] ?? 0) - (times[1] ?? 0)), 10_000);
    }));

  it('turns one reason into the other at once', () =>
    inScene(async (scene) => {
      await scene.node('a', 'False');
      await scene.node('b');
      await scene.loops.run(['nodelifecycle']);
      await scene.tainted('a', 'not-ready:NoSchedule', 'not-ready:NoExecute');
      await scene.says('a', 'Ready', 'Unknown');
      await scene.tainted('a', 'unreachable:NoSchedule', 'unreachable:NoExecute');
    }));

  it('spares a small zone that is disturbed, and goes on elsewhere', () =>
    inScene(async (scene) => {
      for (const name of ['a', 'b', 'c']) await scene.node(name, 'False', { zone: 'disturbed' });
      await scene.node('d', 'True', { zone: 'disturbed' });
      await scene.node('e', 'False', { zone: 'sound' });
      await scene.node('f', 'True', { zone: 'sound' });
      await scene.loops.run(['nodelifecycle']);
      const [node] = await scene.evicting(1);
      assert.equal(node?.metadata.name, 'e');
      for (const name of ['a', 'b', 'c']) await scene.tainted(name, 'not-ready:NoSchedule');
    }));

  it('stops driving pods away when no node is left, and starts again with the first that is back', () =>
    inScene(async (scene) => {
      await scene.node('a', 'False');
      await scene.node('b', 'True');
      await scene.loops.run(['nodelifecycle']);
      await scene.evicting(1);
      await scene.says('b', 'Ready', 'False');
      await scene.evicting(0);
      await scene.loops.pass(20_000);
      await scene.says('b', 'Ready', 'True');
      await scene.evicting(1);
    }));

  it('goes on where another process stopped, and does no harm beside one', () =>
    inScene(async (scene) => {
      await scene.node('a');
      const first = await scene.loops.run(['nodelifecycle']);
      await scene.waits(graceMs);
      await scene.loops.pass(graceMs / 2);
      await first.stop();
      for (let process = 0; process < 2; process++) {
        await scene.loops.run(['nodelifecycle']);
        await scene.waits(graceMs);
        await scene.loops.pass(1000);
      }
      await scene.loops.pass(graceMs - 2000);
      const node = await scene.tainted('a', 'unreachable:NoSchedule');
      const ready = node.status.conditions?.find(({ type }) => type === 'Ready');
      assert.equal(ready?.lastTransitionTime, formatTime(scene.timers.now()));
    }));
});

describe('the taint-eviction-controller loop', () => {
  const taint = (key: string) => ({ key, effect: 'NoExecute' });
  const tolerate = (key: string, tolerationSeconds?: number) => ({
    tolerations: [
      {
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
      },
    ],
  });

  async function setTaints(scene: Scene, name: string, taints: readonly object[]): Promise<void> {
    await scene.loops.update<StoredNode>('nodes', '', name, (node) => {
      node.spec.taints = taints as never;
    });
  }

  it('deletes pods that do not tolerate a taint, at once or when their time is over', () =>
    inScene(async (scene) => {
      await scene.node('n');
      await scene.pod('plain', 'n');
      await scene.pod('soon', 'n', tolerate('example.com/t', 60));
      await scene.pod('ever', 'n', tolerate('example.com/t'));
      await scene.pod('other', 'n', tolerate('example.com/other'));
      await scene.loops.run(['taint-eviction-controller']);
      await setTaints(scene, 'n', [taint('example.com/t')]);
      await scene.pods('those that tolerate the taint', (names) => names === 'ever,soon');
      await scene.event('TaintManagerEviction', 'Pod');
      const pod = await scene.loops.find<StoredPod>('pods', 'default', 'plain');
      const condition = pod?.status.conditions?.find(({ type }) => type === 'DisruptionTarget');
      assert.equal(condition?.reason, 'DeletionByTaintManager');
      assert.equal(condition?.observedGeneration, 1);
      await scene.waits(60_000);
      await scene.loops.pass(60_000);
      await scene.pods('the one that tolerates it for ever', (names) => names === 'ever');
    }));

  it('counts from when the taint was set, whoever counted before', () =>
    inScene(async (scene) => {
      const timeAdded = formatTime(scene.timers.now());
      await scene.node('n', 'True', { spec: { taints: [{ ...taint('example.com/t'), timeAdded }] } });
      await scene.pod('p', 'n', tolerate('example.com/t', 100));
      const first = await scene.loops.run(['taint-eviction-controller']);
      await scene.waits(100_000);
      await scene.loops.pass(40_000);
      await first.stop();
      await scene.loops.run(['taint-eviction-controller']);
      await scene.waits(60_000);
      await scene.loops.pass(60_000);
      await scene.pods('none', (names) => names === '');
    }));

  it('lets a pod stay when the taint goes in time', () =>
    inScene(async (scene) => {
      await scene.node('n');
      await scene.pod('p', 'n', tolerate('example.com/t', 100));
      await scene.loops.run(['taint-eviction-controller']);
      await setTaints(scene, 'n', [taint('example.com/t')]);
      await scene.waits(100_000);
      await setTaints(scene, 'n', []);
      const { message } = await scene.event('TaintManagerEviction', 'Pod');
      assert.equal(message, 'Cancelling deletion of Pod default/p');
      await scene.loops.pass(200_000);
      await scene.pod('later', 'n');
      await scene.pods('both', (names) => names === 'later,p');
    }));

  it('deletes pods that come to a tainted node', () =>
    inScene(async (scene) => {
      await scene.node('n', 'True', { spec: { taints: [taint('example.com/t')] } });
      await scene.loops.run(['taint-eviction-controller']);
      await scene.loops.run(['taint-eviction-controller']);
      await scene.loops.create<StoredPod>('pods', {
        metadata: { name: 'p', namespace: 'default' },
        spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
      });
      await scene.event('TaintManagerEviction', 'Pod');
      await scene.pods('none', (names) => names === '');
    }));
});
