import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../../../base/machinery/schema/index.js';
import { pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { containerHash } from '../containers/hash.js';
import { runtimeAnnotations, runtimeLabels } from '../cri/labels.js';
import { podActions, type RunHealth } from './pod-actions.js';
import { declaredContainers } from './pod-form.js';
import { podAddressesOf, type RuntimeContainer, type RuntimePod } from './runtime-pod.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';

function podOf(spec: object) {
  const metadata = { name: 'web', namespace: 'default', uid };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata, spec }).value;
}

interface Run {
  readonly name: string;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  readonly exitCode?: number;
  readonly image?: string;
  readonly sandbox?: string;
}

const states = { created: 0, running: 1, exited: 2, unknown: 3 } as const;

function runtimeOf(
  pod: ReturnType<typeof podOf>,
  runs: readonly Run[],
  sandboxStates: readonly number[] = [0],
): RuntimePod {
  const declared = new Map(declaredContainers(pod).map((each) => [each.container.name, each]));
  return {
    uid,
    name: 'web',
    namespace: 'default',
    sandboxes: sandboxStates.map((state, i) => ({
      id: `sandbox-${sandboxStates.length - 1 - i}`,
      metadata: { name: 'web', uid, namespace: 'default', attempt: sandboxStates.length - 1 - i },
      state,
      createdAt: 1,
      network: { ip: '10.0.0.1', additionalIps: [] },
      linux: undefined,
      labels: {},
      annotations: {},
      runtimeHandler: '',
    })),
    containers: runs.map((run, i) => {
      const known = declared.get(run.name);
      return {
        id: `${run.name}-${i}`,
        metadata: { name: run.name, attempt: 0 },
        state: states[run.state],
        exitCode: run.exitCode ?? 0,
        labels: { [runtimeLabels.containerName]: run.name },
        annotations: { [runtimeAnnotations.hash]: run.image ?? (known === undefined ? '' : containerHash(known)) },
        sandboxId: run.sandbox ?? `sandbox-${sandboxStates.length - 1}`,
      } as unknown as RuntimeContainer;
    }),
  };
}

function actionsOf(
  spec: object,
  runs: readonly Run[],
  {
    sandboxes = [0],
    health = {},
    resize = 'none',
  }: {
    readonly sandboxes?: readonly number[];
    readonly health?: Record<string, Partial<RunHealth>>;
    readonly resize?: 'none' | 'update' | 'restart';
  } = {},
) {
  const pod = podOf(spec);
  const actions = podActions({
    pod,
    runtime: runtimeOf(pod, runs, sandboxes),
    healthOf: (run) => ({ failed: undefined, isStarted: true, ...health[run.metadata?.name ?? ''] }),
    hashOf: containerHash,
    resizeOf: () => resize,
  });
  return {
    ...actions,
    starts: actions.starts.map(({ declared }) => declared.container.name),
    kills: actions.kills.map(({ message }) => message),
  };
}

const app = { name: 'app', image: 'a' };
const two = { containers: [app, { name: 'other', image: 'b' }], restartPolicy: 'Always' };
const withInits = {
  initContainers: [
    { name: 'first', image: 'i' },
    { name: 'side', image: 's', restartPolicy: 'Always' },
    { name: 'second', image: 'i' },
  ],
  containers: [app],
  restartPolicy: 'Always',
};

describe('podActions', () => {
  it('makes a sandbox and starts all containers of a new pod', () => {
    const actions = actionsOf(two, [], { sandboxes: [] });
    assert.deepEqual([actions.newSandbox, actions.killAll, actions.starts], [true, false, ['app', 'other']]);
  });

  it('kills what the runtime has lost sight of before it starts it again, whatever the role', () => {
    const killed = ['Container is in unknown state, try killing it before restart'];
    const lost = (name: string) => ({ name, state: 'unknown' }) as const;
    const first = { name: 'first', state: 'exited' } as const;
    const side = { name: 'side', state: 'running' } as const;
    for (const { spec, runs, starts } of [
      { spec: two, runs: [lost('app'), { name: 'other', state: 'running' } as const], starts: ['app'] },
      { spec: withInits, runs: [lost('first')], starts: ['first'] },
      { spec: withInits, runs: [first, lost('side')], starts: ['side'] },
      { spec: withInits, runs: [first, side, lost('second')], starts: ['second'] },
    ]) {
      const actions = actionsOf(spec, runs);
      assert.deepEqual([actions.kills, actions.starts], [killed, starts]);
    }
    assert.deepEqual(actionsOf(two, [{ name: 'app', state: 'created' }]).kills, []);
  });

  it('starts only the first init container of a new pod', () => {
    assert.deepEqual(actionsOf(withInits, [], { sandboxes: [] }).starts, ['first']);
  });

  it('starts init containers one after another, and sidecars until they are started', () => {
    const done = { name: 'first', state: 'exited' } as const;
    const side = { name: 'side', state: 'running' } as const;
    assert.deepEqual(actionsOf(withInits, [done]).starts, ['side']);
    assert.deepEqual(actionsOf(withInits, [done, side], { health: { side: { isStarted: false } } }).starts, []);
    assert.deepEqual(actionsOf(withInits, [done, side]).starts, ['second']);
    assert.deepEqual(actionsOf(withInits, [done, side, { name: 'second', state: 'running' }]).starts, []);
    const all = [done, side, { name: 'second', state: 'exited' } as const];
    assert.deepEqual(actionsOf(withInits, all).starts, ['app']);
  });

  it('does not run init containers again once containers have begun, but sidecars', () => {
    const runs = [{ name: 'app', state: 'running' } as const, { name: 'side', state: 'exited', exitCode: 1 } as const];
    assert.deepEqual(actionsOf(withInits, runs).starts, ['side']);
  });

  it('runs a failed init container again, or gives the pod up', () => {
    const failed = [{ name: 'first', state: 'exited', exitCode: 1 } as const];
    assert.deepEqual(actionsOf(withInits, failed).starts, ['first']);
    const never = actionsOf({ ...withInits, restartPolicy: 'Never' }, failed);
    assert.deepEqual([never.killAll, never.newSandbox, never.starts], [true, false, []]);
  });

  it('replaces a container that was made and never started', () => {
    const runs = [{ name: 'app', state: 'created' } as const, { name: 'other', state: 'running' } as const];
    assert.deepEqual(actionsOf(two, runs).starts, ['app']);
  });

  it('restarts what has ended as the policy says, and ends the pod when nothing will run', () => {
    const ended = (exitCode: number) => [
      { name: 'app', state: 'exited', exitCode } as const,
      { name: 'other', state: 'running' } as const,
    ];
    assert.deepEqual(actionsOf(two, ended(0)).starts, ['app']);
    assert.deepEqual(actionsOf({ ...two, restartPolicy: 'OnFailure' }, ended(0)).starts, []);
    assert.deepEqual(actionsOf({ ...two, restartPolicy: 'OnFailure' }, ended(2)).starts, ['app']);
    const over = actionsOf({ containers: [app], restartPolicy: 'Never' }, [ended(1)[0] as Run]);
    assert.deepEqual([over.killAll, over.starts], [true, []]);
  });

  it('restarts by the exit codes of the rules of a container', () => {
    const rules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }];
    const spec = {
      containers: [{ ...app, restartPolicy: 'Never', restartPolicyRules: rules }],
      restartPolicy: 'Never',
    };
    assert.deepEqual(actionsOf(spec, [{ name: 'app', state: 'exited', exitCode: 42 }]).starts, ['app']);
    assert.equal(actionsOf(spec, [{ name: 'app', state: 'exited', exitCode: 1 }]).killAll, true);
  });

  it('ends what probes have given up and what was made for another image', () => {
    const running = [
      { name: 'app', state: 'running' } as const,
      { name: 'other', state: 'running', image: 'older' } as const,
    ];
    const { kills } = actionsOf(two, running, { health: { app: { failed: 'Liveness' } } });
    assert.deepEqual(kills, [
      'Container app failed liveness probe, will be restarted',
      'Container other definition changed, will be restarted',
    ]);
  });

  it('begins anew when the sandbox has ended, unless the pod must not run again', () => {
    const runs = [{ name: 'app', state: 'exited', exitCode: 137 } as const];
    const again = actionsOf({ containers: [app], restartPolicy: 'Always' }, runs, { sandboxes: [1] });
    assert.deepEqual([again.killAll, again.newSandbox, again.starts], [true, true, ['app']]);
    const never = actionsOf({ containers: [app], restartPolicy: 'Never' }, runs, { sandboxes: [1] });
    assert.deepEqual([never.killAll, never.newSandbox], [true, false]);
  });

  it('starts ephemeral containers once', () => {
    const spec = { containers: [app], ephemeralContainers: [{ name: 'debug', image: 'd' }], restartPolicy: 'Always' };
    const running = { name: 'app', state: 'running' } as const;
    assert.deepEqual(actionsOf(spec, [running]).starts, ['debug']);
    assert.deepEqual(actionsOf(spec, [running, { name: 'debug', state: 'exited' }]).starts, []);
  });

  it('starts what was created and never started, whatever the role and the restart policy', () => {
    const made = (name: string) => ({ name, state: 'created' }) as const;
    const first = { name: 'first', state: 'exited' } as const;
    const up = (name: string) => ({ name, state: 'running' }) as const;
    const debugged = { containers: [app], ephemeralContainers: [{ name: 'debug', image: 'd' }] };
    for (const { spec, runs, starts } of [
      { spec: two, runs: [made('app'), { name: 'other', state: 'exited' } as const], starts: ['app'] },
      { spec: withInits, runs: [made('first')], starts: ['first'] },
      { spec: withInits, runs: [first, made('side')], starts: ['side'] },
      { spec: withInits, runs: [first, up('side'), made('second')], starts: ['second'] },
      { spec: debugged, runs: [up('app'), made('debug')], starts: ['debug'] },
    ]) {
      const actions = actionsOf({ ...spec, restartPolicy: 'Never' }, runs);
      assert.deepEqual([actions.starts, actions.killAll, actions.kills], [starts, false, []]);
    }
    // Its sandbox has ended, too.
    const again = actionsOf({ containers: [app], restartPolicy: 'Never' }, [made('app')], { sandboxes: [1] });
    assert.deepEqual([again.newSandbox, again.starts], [true, ['app']]);
  });

  it('removes all containers when one ends so that the whole pod starts anew, that one last', () => {
    const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } };
    const spec = {
      restartPolicy: 'Never',
      initContainers: [{ name: 'first', image: 'i' }],
      containers: [
        { ...app, restartPolicy: 'Never', restartPolicyRules: [rule] },
        { name: 'other', image: 'b' },
      ],
    };
    const runs = (exitCode: number): Run[] => [
      { name: 'first', state: 'exited' },
      { name: 'app', state: 'exited', exitCode },
      { name: 'other', state: 'running' },
    ];
    const found = actionsOf(spec, runs(88));
    assert.deepEqual(
      found.resets.map(({ metadata }) => metadata?.name),
      ['other', 'first', 'app'],
    );
    assert.deepEqual([found.killAll, found.starts, found.kills], [false, [], []]);
    assert.deepEqual(actionsOf(spec, runs(1)).resets, []);
  });

  it('ends earlier runs that run beside the newest one', () => {
    const twice: Run[] = [
      { name: 'app', state: 'running' },
      { name: 'app', state: 'running' },
      { name: 'app', state: 'exited' },
    ];
    const { kills, starts } = actionsOf({ containers: [app] }, twice);
    assert.deepEqual([kills, starts], [['Container app runs twice'], []]);
    const [newest, ...earlier] = twice;
    assert.deepEqual(actionsOf({ containers: [app] }, [newest as Run, ...earlier.slice(1)]).kills, []);
  });

  it('updates a run that goes on with other resources, and starts one again that does not', () => {
    const runs: Run[] = [{ name: 'app', state: 'running' }];
    const spec = { containers: [app], restartPolicy: 'Never' };
    const of = (resize: 'update' | 'restart') => actionsOf(spec, runs, { resize });
    assert.deepEqual(
      of('update').updates.map(({ run }) => run.id),
      ['app-0'],
    );
    const { kills, starts } = of('restart');
    assert.deepEqual([kills, starts], [['Container app resize requires restart'], ['app']]);
  });
});

describe('podAddressesOf', () => {
  it('has the addresses of the node for a pod in the network of the node, whatever its sandbox says', () => {
    const hostIPs = () => ['192.0.2.1', '2001:db8::1'];
    for (const [spec, addresses] of [
      [{}, ['10.0.0.1']],
      [{ hostNetwork: false }, ['10.0.0.1']],
      [{ hostNetwork: true }, ['192.0.2.1', '2001:db8::1']],
    ] as const) {
      const pod = podOf({ containers: [{ name: 'web', image: 'web' }], ...spec });
      assert.deepEqual(podAddressesOf(pod, runtimeOf(pod, []), hostIPs), addresses);
    }
  });
});
