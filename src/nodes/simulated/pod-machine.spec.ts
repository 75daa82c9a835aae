import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { ContainerEvent } from './container-run.js';
import { PodMachine } from './pod-machine.js';
import { planOf } from './pod-plan.js';

const start = Date.parse('2030-01-01T00:00:00Z');

interface Given {
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly status?: object;
  readonly isHeld?: boolean;
}

function podOf({ spec = {}, annotations = {}, status = {} }: Given): Pod {
  const prefixed = Object.entries(annotations).map(([key, value]) => [`sim.plinth.dev/${key}`, value]);
  return {
    metadata: { name: 'p', namespace: 'n', uid: 'u', generation: 1, annotations: Object.fromEntries(prefixed) },
    spec: { containers: [{ name: 'c', image: 'nginx:1' }], ...spec },
    status,
  } as unknown as Pod;
}

/** A pod on a node whose clock the test advances. */
class Scene {
  readonly happened: string[] = [];
  readonly machine: PodMachine;
  private now = start;

  constructor(given: Given) {
    const pod = podOf(given);
    const record = ({ reason }: ContainerEvent) => void this.happened.push(reason);
    const backOff = { firstMs: 10_000, longestMs: 300_000 };
    this.machine = new PodMachine(
      planOf(pod),
      { backOff, hostIP: '1.1.1.1', podIP: '2.2.2.2', record },
      pod.status,
      start,
    );
    this.machine.isHeld = given.isHeld === true;
    this.at(0);
  }

  /** Advances time as a node does: to every moment at which something is due. */
  at(seconds: number) {
    const until = start + 1000 * seconds;
    this.machine.advance(this.now);
    for (;;) {
      const next = this.machine.nextAt;
      if (next === undefined || next > until) break;
      this.now = Math.max(this.now, next);
      this.machine.advance(this.now);
    }
    this.now = until;
    this.machine.advance(until);
    return this.machine.status(until);
  }

  /** One line for a status: phase, the conditions that are true, the states of the containers. */
  line(seconds: number): string {
    const { phase, conditions, initContainerStatuses = [], containerStatuses } = this.at(seconds);
    const holds = (conditions ?? []).filter(({ status }) => status === 'True').map(({ type }) => type);
    const short: Readonly<Record<string, string>> = { Initialized: 'I', Ready: 'R', ContainersReady: 'C' };
    const letters = holds.map((type) => short[type] ?? '').join('');
    const states = [...(initContainerStatuses ?? []), ...(containerStatuses ?? [])].map(({ state, restartCount }) => {
      const { waiting, running, terminated } = state;
      const text = waiting?.reason ?? (running ? 'run' : `exit${terminated?.exitCode}`);
      return restartCount === 0 ? text : `${text}*${restartCount}`;
    });
    return `${phase} ${letters} ${states.join(' ')}`;
  }
}

const sidecar = { name: 's', image: 's:1', restartPolicy: 'Always' };

const cases: readonly (readonly [name: string, given: Given, lines: Readonly<Record<number, string>>])[] = [
  ['a server runs at once and for ever', {}, { 0: 'Running IRC run', 100000: 'Running IRC run' }],
  [
    'a task ends by itself after a second',
    { spec: { restartPolicy: 'Never' } },
    { 0: 'Running IRC run', 1: 'Succeeded I exit0' },
  ],
  [
    'a task that fails',
    { spec: { restartPolicy: 'Never' }, annotations: { 'run-seconds': '5', 'exit-code': '3' } },
    { 4: 'Running IRC run', 5: 'Failed I exit3' },
  ],
  [
    'a task that is repeated until it succeeds',
    { spec: { restartPolicy: 'OnFailure' }, annotations: { 'fail-times': '2' } },
    {
      0: 'Running IRC run',
      1: 'Running IRC run*1',
      2: 'Running I CrashLoopBackOff*1',
      12: 'Running IRC run*2',
      13: 'Succeeded I exit0*2',
    },
  ],
  [
    'pauses grow from crash to crash',
    { annotations: { 'run-seconds': '1', 'exit-code': '1' } },
    {
      1: 'Running IRC run*1',
      2: 'Running I CrashLoopBackOff*1',
      12: 'Running IRC run*2',
      13: 'Running I CrashLoopBackOff*2',
      32: 'Running I CrashLoopBackOff*2',
      33: 'Running IRC run*3',
      73: 'Running I CrashLoopBackOff*3',
      74: 'Running IRC run*4',
    },
  ],
  [
    'a container that ends at once is not run in a loop',
    { annotations: { 'run-seconds': '0' } },
    { 0: 'Running I CrashLoopBackOff*1', 10: 'Running I CrashLoopBackOff*2' },
  ],
  [
    'an image that no registry has',
    { spec: { containers: [{ name: 'c', image: 'example.com/bad:1' }] } },
    { 0: 'Pending I ErrImagePull', 1: 'Pending I ImagePullBackOff', 11: 'Pending I ErrImagePull' },
  ],
  [
    'starting and getting ready take their time',
    { annotations: { 'start-seconds': '2', 'ready-after': '3.5' } },
    { 1: 'Pending I ContainerCreating', 2: 'Running I run', 5: 'Running I run', 6: 'Running IRC run' },
  ],
  ['never ready', { annotations: { 'ready-after': 'never' } }, { 0: 'Running I run', 9999: 'Running I run' }],
  [
    'probes begin late',
    { spec: { containers: [{ name: 'c', readinessProbe: { initialDelaySeconds: 7 } }] } },
    { 6: 'Running I run', 7: 'Running IRC run' },
  ],
  [
    'init containers run one after another',
    {
      spec: { initContainers: [{ name: 'a' }, { name: 'b' }] },
      annotations: { 'run-seconds.a': '2', 'run-seconds.b': '2' },
    },
    {
      1: 'Pending  run PodInitializing PodInitializing',
      2: 'Pending  exit0 run PodInitializing',
      4: 'Running IRC exit0 exit0 run',
    },
  ],
  [
    'an init container that fails is repeated',
    { spec: { initContainers: [{ name: 'a' }] }, annotations: { 'fail-times.a': '1' } },
    { 0: 'Running IRC exit0*1 run' },
  ],
  [
    'a failed init container ends a pod that is never restarted',
    { spec: { restartPolicy: 'Never', initContainers: [{ name: 'a' }] }, annotations: { 'exit-code.a': '2' } },
    { 0: 'Failed  exit2 PodInitializing' },
  ],
  [
    'a sidecar runs beside the containers and ends after them',
    { spec: { restartPolicy: 'Never', initContainers: [sidecar, { name: 'a' }] } },
    { 0: 'Running IRC run exit0 run', 1: 'Succeeded I exit0 exit0 exit0' },
  ],
  [
    'a sidecar that is not ready keeps the pod from being ready',
    { spec: { initContainers: [sidecar] }, annotations: { 'ready-after.s': '5' } },
    { 0: 'Running I run run', 5: 'Running IRC run run' },
  ],
  [
    'a readiness gate that nobody opened',
    { spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } },
    { 0: 'Running IC run' },
  ],
  [
    'an open readiness gate',
    {
      spec: { readinessGates: [{ conditionType: 'example.com/gate' }] },
      status: { conditions: [{ type: 'example.com/gate', status: 'True' }] },
    },
    { 0: 'Running IRC run' },
  ],
  [
    'a pod beyond its deadline',
    { spec: { restartPolicy: 'Never', activeDeadlineSeconds: 30 }, annotations: { 'run-seconds': 'forever' } },
    { 29: 'Running IRC run', 30: 'Failed I exit143' },
  ],
  [
    'a pod that an earlier process ran',
    {
      annotations: { 'run-seconds': '100' },
      status: {
        startTime: '2029-12-31T23:59:00Z',
        containerStatuses: [
          { name: 'c', restartCount: 4, state: { running: { startedAt: '2029-12-31T23:59:00Z' } }, lastState: {} },
        ],
      },
    },
    { 39: 'Running IRC run*4', 40: 'Running IRC run*5' },
  ],
  [
    'values that cannot be read count as missing',
    { annotations: { 'run-seconds': 'soon', 'exit-code': '256', 'ready-after': '-1' } },
    { 1000: 'Running IRC run' },
  ],
];

describe('PodMachine', () => {
  for (const [name, given, lines] of cases) {
    it(name, () => {
      const scene = new Scene(given);
      const seen = Object.fromEntries(Object.keys(lines).map((at) => [at, scene.line(Number(at))]));
      assert.deepEqual(seen, lines);
    });
  }

  it('ends within the grace period', () => {
    const stops = (annotations: Readonly<Record<string, string>>, seconds: number) => {
      const scene = new Scene({ annotations });
      scene.at(10);
      scene.machine.stop(start + 10_000, 30_000);
      return scene.line(seconds);
    };
    assert.equal(stops({}, 10), 'Succeeded I exit0');
    assert.equal(stops({ 'stop-seconds': '5' }, 14), 'Running IRC run');
    assert.equal(stops({ 'stop-seconds': '5' }, 15), 'Succeeded I exit0');
    assert.equal(stops({ 'stop-seconds': '60' }, 40), 'Failed I exit137');
  });

  it('is over when all containers of a pod that is being deleted have ended, whatever their state was', () => {
    for (const [annotations, image] of [
      [{ 'start-seconds': '60' }, 'nginx'],
      [{}, 'bad:1'],
      [{ 'run-seconds': '0' }, 'nginx'],
    ] as const) {
      const scene = new Scene({ annotations, spec: { containers: [{ name: 'c', image }] } });
      scene.at(2);
      scene.machine.stop(start + 2000, 30_000);
      scene.at(2);
      assert.ok(scene.machine.isOver, JSON.stringify(annotations));
    }
  });

  it('gives reasons and messages of the field', () => {
    const status = new Scene({ annotations: { 'run-seconds': '1', 'exit-code': '1' } }).at(13);
    const [container] = status.containerStatuses ?? [];
    assert.deepEqual(container?.state.waiting, {
      reason: 'CrashLoopBackOff',
      message: 'back-off 20s restarting failed container=c pod=p_n(u)',
    });
    assert.equal(container?.lastState.terminated?.reason, 'Error');
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    assert.deepEqual([ready?.reason, ready?.message], ['ContainersNotReady', 'containers with unready status: [c]']);
  });

  it('changes the time of a condition only with its status', () => {
    const scene = new Scene({ annotations: { 'ready-after': '10' } });
    const times = (seconds: number) =>
      ['Ready', 'Initialized'].map(
        (wanted) => scene.at(seconds).conditions?.find(({ type }) => type === wanted)?.lastTransitionTime,
      );
    assert.deepEqual(times(5), ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z']);
    assert.deepEqual(times(20), ['2030-01-01T00:00:20Z', '2030-01-01T00:00:00Z']);
    assert.deepEqual(times(30), ['2030-01-01T00:00:20Z', '2030-01-01T00:00:00Z']);
  });

  it('follows annotations that change while it runs', () => {
    const scene = new Scene({});
    assert.equal(scene.line(1), 'Running IRC run');
    scene.machine.update(planOf(podOf({ annotations: { 'ready-after': 'never' } })), start);
    assert.equal(scene.line(2), 'Running I run');
    scene.machine.update(planOf(podOf({ annotations: { 'run-seconds': '5', 'exit-code': '1' } })), start);
    assert.equal(scene.line(5), 'Running IRC run*1');
  });

  it('reports what happens to containers', () => {
    const scene = new Scene({ annotations: { 'run-seconds': '1', 'exit-code': '1' } });
    scene.at(3);
    assert.deepEqual(scene.happened, ['Pulled', 'Created', 'Started', 'Created', 'Started', 'BackOff']);
  });

  describe('hooks', () => {
    const withHooks = (lifecycle: object, annotations = {}) =>
      new Scene({ spec: { containers: [{ name: 'c', image: 'nginx:1', lifecycle }] }, annotations });
    const table: [string, object, object, number, number, number][] = [
      ['a sleep before the end', { preStop: { sleep: { seconds: 5 } } }, {}, 30, 15, 0],
      [
        'a command that sleeps',
        { preStop: { exec: { command: ['/bin/sh', '-c', 'sleep 5; nginx -s quit'] } } },
        {},
        30,
        15,
        0,
      ],
      ['a command that does not sleep', { preStop: { exec: { command: ['nginx', '-s', 'quit'] } } }, {}, 30, 10, 0],
      ['a hook within the grace period', { preStop: { sleep: { seconds: 60 } } }, {}, 20, 30, 0],
      ['no hook without time', { preStop: { sleep: { seconds: 5 } } }, {}, 0, 10, 0],
      [
        'what is left of the grace period',
        { preStop: { sleep: { seconds: 8 } } },
        { 'stop-seconds': '9' },
        10,
        20,
        137,
      ],
    ];
    for (const [title, lifecycle, annotations, grace, ends, code] of table) {
      it(`take their time: ${title}`, () => {
        const scene = withHooks(lifecycle, annotations);
        scene.at(9);
        scene.machine.stop(start + 10_000, 1000 * grace);
        assert.ok(ends === 10 || scene.at(ends - 0.1).containerStatuses?.[0]?.state.running, 'it runs on');
        const { terminated } = scene.at(ends).containerStatuses?.[0]?.state ?? {};
        assert.equal(terminated?.exitCode, code);
      });
    }

    it('begin before the container counts as running', () => {
      const scene = withHooks({ postStart: { sleep: { seconds: 3 } } });
      assert.equal(scene.at(2.9).containerStatuses?.[0]?.state.running, undefined);
      assert.ok(scene.at(3).containerStatuses?.[0]?.state.running);
    });
  });

  it('begins nothing while its volumes are missing, and ends when it is asked to', () => {
    const held = new Scene({ isHeld: true });
    assert.equal(held.at(60).containerStatuses?.[0]?.state.waiting?.reason, 'ContainerCreating');
    held.machine.isHeld = false;
    assert.ok(held.at(61).containerStatuses?.[0]?.state.running);
    const doomed = new Scene({ isHeld: true });
    doomed.machine.stop(start + 1000, 30_000);
    doomed.at(2);
    assert.equal(doomed.machine.isOver, true);
  });
});
