import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chosenColumns, fittingColumns, withLabelCells, withLabelColumns } from './columns.js';
import { mostUnpacked, newestOf, objectsIn, readRelease, revisionsIn } from './helm-release.js';
import { titleOfKind } from './kind-title.js';
import type { Kind } from './kinds.js';
import { navGroups } from './nav-groups.js';
import { objectState } from './object-state.js';
import { podState } from './pod-state.js';
import { amountOf, countPods, nodeProblems, podProblems, quotaProblems, toneOfPod, warningsOf } from './problems.js';
import { type SearchState, searchAll } from './search-all.js';
import { toneOfCell, toneOfCondition } from './status.js';
import type { Row } from './table.js';
import { type Entry, fieldText, foldTimeline } from './timeline-fold.js';
import { agoText } from './times.js';
import { whoMay } from './who-may.js';

const kind = (resource: string, name: string, group = '', verbs = ['list']): Kind => ({
  ...{ group, version: 'v1', resource, kind: name, namespaced: true, verbs, shortNames: [] },
});

describe('the navigation', () => {
  it('names kinds as people do', () => {
    for (const [resource, name, title] of [
      ['pods', 'Pod', 'Pods'],
      ['statefulsets', 'StatefulSet', 'Stateful sets'],
      ['ingresses', 'Ingress', 'Ingresses'],
      ['networkpolicies', 'NetworkPolicy', 'Network policies'],
      ['endpoints', 'Endpoints', 'Endpoints'],
      ['httproutes', 'HTTPRoute', 'HTTP routes'],
      ['csidrivers', 'CSIDriver', 'CSI drivers'],
      ['servicecidrs', 'ServiceCIDR', 'Service CIDRs'],
      ['ipaddresses', 'IPAddress', 'IP addresses'],
      ['horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'Autoscalers'],
      ['people', 'Person', 'People'],
      ['constructor', 'Constructor', 'Constructor'],
    ] as const) {
      assert.equal(titleOfKind({ resource, kind: name }), title);
    }
  });

  it('sorts kinds by purpose, whatever the suffix of the vendor', () => {
    const all = [
      kind('roles', 'Role', 'rbac.authorization.example.io'),
      kind('deployments', 'Deployment', 'apps'),
      kind('pods', 'Pod'),
      kind('events', 'Event'),
      kind('events', 'Event', 'events.example.io'),
      kind('databases', 'Database', 'db.example.com'),
      kind('customresourcedefinitions', 'CustomResourceDefinition', 'apiextensions.example.io'),
      kind('httproutes', 'HTTPRoute', 'gateway.networking.example.io'),
      kind('tokenreviews', 'TokenReview', 'authentication.example.io', ['create']),
      kind('somethings', 'Something', 'apps'),
    ];
    const groups = navGroups({ all, suffix: 'example.io', missing: [] });
    assert.deepEqual(
      groups.map(({ title, kinds }) => [title, ...kinds.map((each) => each.title)]),
      [
        ['Workloads', 'Pods', 'Deployments', 'Somethings'],
        ['Network', 'HTTP routes'],
        ['Access', 'Roles'],
        ['Custom resources', 'Definitions', 'Databases'],
        ['Cluster', 'Events'],
      ],
    );
    assert.equal(groups.find(({ purpose }) => purpose === 'custom')?.kinds[1]?.hint, 'db.example.com');
  });
});

const row = (name: string, cells: readonly string[], more: Partial<Row> = {}): Row => ({
  ...{ key: `n/${name}`, namespace: 'n', name, created: '2026-01-01T00:00:00Z', isGoing: false, labels: {} },
  ...{ cells: [name, ...cells], uid: name, owner: '', owners: [], ...more },
});
const columns = ['Name', 'Ready', 'Status', 'Restarts', 'Age'].map((name) => ({ name, type: '', priority: 0 }));

describe('columns', () => {
  it('are those that the user wants, with labels after them', () => {
    const wide = [...columns, { name: 'Node', type: '', priority: 1 }];
    const names = (isWide: boolean, hidden: string[]) =>
      chosenColumns(withLabelColumns(wide, ['app']), { hidden, isWide, labels: ['app'] }).map(({ name }) => name);
    assert.deepEqual(names(false, []), ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'app']);
    assert.deepEqual(names(true, ['Name', 'Age']), ['Name', 'Ready', 'Status', 'Restarts', 'Node', 'app']);
    const [first] = withLabelCells([row('a', ['1/1'], { labels: { app: 'web' } })], 6, ['app']);
    assert.deepEqual(first?.cells, ['a', '1/1', '', '', '', '', 'web']);
  });

  it('give way to those that say how things stand', () => {
    const shown = chosenColumns(columns, { hidden: [], isWide: false, labels: [] });
    const widths = [200, 70, 120, 90, 80];
    const names = (room: number) => fittingColumns(shown, widths, room).map(({ name }) => name);
    assert.deepEqual(names(1000), ['Name', 'Ready', 'Status', 'Restarts', 'Age']);
    assert.deepEqual(names(400), ['Name', 'Ready', 'Status']);
    assert.deepEqual(names(330), ['Name', 'Status']);
    assert.deepEqual(names(10), ['Name']);
  });
});

describe('a status', () => {
  it('is read from the cells of tables', () => {
    const none = () => '';
    for (const [resource, column, text, tone] of [
      ['pods', 'Status', 'Running', 'warn'],
      ['jobs', 'Status', 'Running', 'good'],
      ['pods', 'Status', 'CrashLoopBackOff', 'bad'],
      ['pods', 'Status', 'Init:0/1', 'busy'],
      ['pods', 'Status', 'Init:Error', 'bad'],
      ['pods', 'Status', 'Completed', 'idle'],
      ['pods', 'Ready', '1/2', 'warn'],
      ['pods', 'Name', 'Running', undefined],
      ['nodes', 'Status', 'Ready', 'good'],
      ['nodes', 'Status', 'NotReady', 'warn'],
      ['nodes', 'Status', 'Ready,SchedulingDisabled', 'warn'],
      ['deployments', 'Ready', '0/3', 'bad'],
      ['deployments', 'Ready', '0/0', 'idle'],
      ['databases', 'Ready', 'False', 'bad'],
      ['services', 'Type', 'ClusterIP', undefined],
      ['events', 'Type', 'Warning', 'warn'],
      ['persistentvolumeclaims', 'Status', 'Bound', 'good'],
    ] as const) {
      assert.equal(toneOfCell(resource, column, text, none), tone, `${column} ${text} of ${resource}`);
    }
    assert.equal(
      toneOfCell('pods', 'Ready', '0/1', () => 'Completed'),
      'idle',
    );
    assert.equal(
      toneOfCell('pods', 'Status', 'Running', () => '2/2'),
      'good',
    );
    assert.equal(toneOfCondition('DiskPressure', 'True'), 'bad');
    assert.equal(toneOfCondition('DiskPressure', 'False'), 'idle');
    assert.equal(toneOfCondition('Ready', 'False'), 'warn');
  });

  it('of a pod says why in the words of whoever reported it', () => {
    const pod = (phase: string, containers: object[] = [], more: object = {}) => ({
      metadata: { name: 'p' },
      status: { phase, containerStatuses: containers, ...more },
    });
    const waiting = (reason: string, message?: string) => ({
      name: 'app',
      state: { waiting: { reason, message } },
      lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
    });
    const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' };
    for (const [object, word, tone, why] of [
      [pod('Running', [{ name: 'app', ready: true, state: { running: {} } }]), 'Running', 'good', ''],
      [pod('Running', [waiting('CrashLoopBackOff', 'back-off 5m')]), 'CrashLoopBackOff', 'bad', 'app: back-off 5m'],
      [
        pod('Running', [waiting('CrashLoopBackOff')]),
        'CrashLoopBackOff',
        'bad',
        'app: the last run ended with exit code 137 (OOMKilled)',
      ],
      [pod('Pending', [waiting('ImagePullBackOff', 'no such image')]), 'ImagePullBackOff', 'bad', 'app: no such image'],
      [pod('Pending', [], { conditions: [unscheduled] }), 'Unschedulable', 'warn', '0/3 nodes'],
      [pod('Failed', [], { reason: 'Evicted', message: 'low on memory' }), 'Evicted', 'bad', 'low on memory'],
      [pod('Succeeded'), 'Completed', 'idle', ''],
      [{ metadata: { deletionTimestamp: 'x' }, status: { phase: 'Running' } }, 'Terminating', 'busy', ''],
      [{ status: 'nothing' }, 'Unknown', 'warn', ''],
      [null, 'Unknown', 'warn', ''],
    ] as const) {
      assert.deepEqual(podState(object), { word, tone, why });
    }
  });

  it('of other objects is that of their conditions and replicas', () => {
    const ready = (status: string, more = {}) => ({ conditions: [{ type: 'Ready', status, ...more }] });
    for (const [resource, object, word] of [
      ['deployments', { spec: { replicas: 3 }, status: { readyReplicas: 2 } }, '2 of 3 ready'],
      ['deployments', { spec: { replicas: 0 }, status: {} }, 'Scaled to 0'],
      ['nodes', { spec: { unschedulable: true }, status: ready('True') }, 'Ready,SchedulingDisabled'],
      ['nodes', { status: ready('Unknown') }, 'NotReady'],
      ['jobs', { status: { conditions: [{ type: 'Failed', status: 'True' }] } }, 'Failed'],
      ['databases', { status: ready('False', { reason: 'Lagging' }) }, 'Lagging'],
      ['namespaces', { status: { phase: 'Active' } }, 'Active'],
      ['pods', { metadata: { deletionTimestamp: 'x', finalizers: ['a/b'] } }, 'Terminating'],
    ] as const) {
      assert.equal(objectState(resource, object)?.word, word);
    }
    assert.equal(objectState('configmaps', { data: {} }), undefined);
  });
});

describe('problems', () => {
  const now = Date.parse('2026-01-01T01:00:00Z');
  const pods = [
    row('fine', ['1/1', 'Running', '0', '']),
    row('done', ['0/1', 'Completed', '0', '']),
    row('c1', ['0/1', 'CrashLoopBackOff', '5 (2m ago)', ''], { owner: 'ReplicaSet/c' }),
    row('c2', ['0/1', 'CrashLoopBackOff', '7 (1m ago)', ''], { owner: 'ReplicaSet/c' }),
    row('young', ['0/1', 'Pending', '0', ''], { created: '2026-01-01T00:59:50Z' }),
    row('stuck', ['0/1', 'Pending', '0', '']),
    row('unready', ['0/1', 'Running', '0', '']),
  ];

  it('are found in a table of pods, the worst first and those of one owner as one', () => {
    assert.deepEqual(
      podProblems(columns, pods, now).map(({ word, pods: names, restarts }) => [word, names, restarts]),
      [
        ['CrashLoopBackOff', ['c1', 'c2'], 12],
        ['Not ready', ['unready'], 0],
        ['Pending', ['stuck'], 0],
      ],
    );
    assert.deepEqual(countPods(columns, pods), { total: 7, byTone: { good: 1, busy: 2, warn: 1, bad: 2, idle: 1 } });
    assert.equal(toneOfPod('SomethingNew', '0/1'), 'warn');
  });

  it('are found in nodes and quotas', () => {
    const node = (name: string, conditions: object[], spec = {}) => ({
      metadata: { name },
      spec,
      status: { conditions },
    });
    const isReady = { type: 'Ready', status: 'True' };
    const found = nodeProblems([
      node('good', [isReady]),
      node('full', [isReady, { type: 'DiskPressure', status: 'True', message: 'the disk is full' }]),
      node('gone', [{ type: 'Ready', status: 'Unknown', message: 'no word from it' }]),
    ]);
    assert.deepEqual(
      found.map(({ name, state }) => [name, state.word, state.why]),
      [
        ['gone', 'NotReady', 'no word from it'],
        ['full', 'DiskPressure', 'the disk is full'],
      ],
    );
    const status = {
      hard: { pods: '10', 'requests.cpu': '2', 'requests.memory': '1Gi', services: '0' },
      used: { pods: '7', 'requests.cpu': '1900m', 'requests.memory': '1024Mi', services: '0' },
    };
    assert.deepEqual(
      quotaProblems([{ metadata: { name: 'q', namespace: 'n' }, status }]).map(({ resource, share }) => [
        resource,
        Math.round(share * 100),
      ]),
      [
        ['requests.memory', 100],
        ['requests.cpu', 95],
      ],
    );
    assert.deepEqual(['1e3', '2Ki', '.5', '3M', '100m'].map(amountOf), [1000, 2048, 0.5, 3e6, 0.1]);
    assert.ok(Number.isNaN(amountOf('much')));
  });

  it('are found in events, the newest first', () => {
    const event = (name: string, reason: string, lastTimestamp: string | null, count?: number) => ({
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
      involvedObject: { kind: 'Pod', namespace: 'n', name },
      ...{ reason, message: `${reason} at ${lastTimestamp}`, lastTimestamp, count },
    });
    const found = warningsOf([
      event('a', 'BackOff', '2026-01-01T00:05:00Z', 3),
      event('b', 'Failed', null),
      event('a', 'BackOff', '2026-01-01T00:09:00Z', 4),
      null,
    ]);
    assert.deepEqual(
      found.map(({ name, reason, count, last }) => [name, reason, count, last]),
      [
        ['a', 'BackOff', 7, '2026-01-01T00:09:00Z'],
        ['b', 'Failed', 1, '2026-01-01T00:00:00Z'],
        ['', '', 1, ''],
      ],
    );
    assert.match(found[0]?.message ?? '', /00:09/);
  });
});

describe('a timeline', () => {
  const entry = (version: string, manager: string, minute: number, ...paths: string[]): Entry => ({
    ...{ version, manager, user: '', verb: 'updated', time: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z` },
    changes: paths.map((path) => ({ op: 'replace', path })),
  });
  const entries = [
    entry('5', 'kubectl', 40, 'spec.replicas'),
    entry('4', 'kubectl', 20, 'spec.replicas', 'status.observedGeneration'),
    entry('3', 'kubectl', 19, 'metadata.labels.app'),
    entry('2', 'controller', 18, 'status.replicas', 'metadata.generation'),
    { ...entry('1', 'kubectl', 17), verb: 'created' },
  ];

  it('is folded by writers, without changes of the status alone', () => {
    const shape = (withStatus: boolean) =>
      foldTimeline(entries, withStatus).map(({ manager, entries: all }) => [
        manager,
        ...all.map((each) => each.version),
      ]);
    assert.deepEqual(shape(false), [
      ['kubectl', '5'],
      ['kubectl', '4', '3', '1'],
    ]);
    assert.deepEqual(shape(true), [
      ['kubectl', '5'],
      ['kubectl', '4', '3'],
      ['controller', '2'],
      ['kubectl', '1'],
    ]);
    const [, second] = foldTimeline(entries, false);
    assert.deepEqual(
      second?.entries[0]?.changes.map(({ path }) => path),
      ['spec.replicas'],
    );
  });

  it('names fields and times as people do', () => {
    assert.equal(fieldText('/spec/containers/0/image'), 'spec.containers[0].image');
    assert.equal(fieldText('spec.replicas'), 'spec.replicas');
    const now = Date.parse('2026-01-01T01:00:00Z');
    assert.equal(agoText('2026-01-01T00:57:00Z', now), '3m ago');
    assert.equal(agoText('2026-01-01T00:59:58Z', now), 'just now');
    assert.equal(agoText('2026-01-01T03:00:00Z', now), 'in 120m');
    assert.equal(agoText('never', now), '');
  });
});

describe('Helm releases', () => {
  const secret = (name: string, version: string, status: string, labels = {}) => ({
    metadata: {
      ...{ name: `sh.helm.release.v1.${name}.v${version}`, namespace: 'n', creationTimestamp: '2026-01-01T00:00:00Z' },
      labels: { owner: 'helm', name, version, status, ...labels },
    },
  });
  const packed = (text: string) => Buffer.from(gzipSync(text).toString('base64')).toString('base64');
  const release = {
    info: {
      status: 'deployed',
      description: 'Upgrade complete',
      notes: 'Open it',
      last_deployed: '2026-01-02T00:00:00Z',
    },
    chart: { metadata: { name: 'web', version: '1.2.3', appVersion: '9' }, values: { replicas: 1 } },
    config: { replicas: 3 },
    manifest: '---\napiVersion: v1\nkind: Service\nmetadata:\n  labels: {a: b}\n  name: "web"\n---\n# empty\n',
  };

  it('are listed by their newest revision', () => {
    const revisions = revisionsIn([
      secret('web', '2', 'superseded'),
      secret('web', '10', 'deployed', { modifiedAt: '1767312000' }),
      secret('api', '1', 'failed', { modifiedAt: '1e99' }),
      secret('odd', 'x', 'deployed'),
      { metadata: { name: 'other', labels: { name: 'other', version: '1' } } },
    ]);
    assert.deepEqual(
      newestOf(revisions).map(({ name, revision, changed }) => [name, revision, changed]),
      [
        ['api', 1, '2026-01-01T00:00:00Z'],
        ['web', 10, '2026-01-02T00:00:00.000Z'],
      ],
    );
  });

  it('are read as Helm packs them, and as it did before it packed them', async () => {
    for (const data of [packed(JSON.stringify(release)), btoa(btoa(JSON.stringify(release)))]) {
      const { chart, chartVersion, notes, values, defaults, manifest } = await readRelease(data);
      assert.deepEqual([chart, chartVersion, notes], ['web', '1.2.3', 'Open it']);
      assert.deepEqual([values, defaults], [{ replicas: 3 }, { replicas: 1 }]);
      assert.deepEqual(objectsIn(manifest), [{ apiVersion: 'v1', kind: 'Service', name: 'web', namespace: '' }]);
    }
  });

  it('are refused where they are none, or would fill the memory', async () => {
    await assert.rejects(readRelease(packed('{}')), /no release/);
    await assert.rejects(readRelease('!'));
    await assert.rejects(readRelease(packed(`{"a":"${'x'.repeat(mostUnpacked)}"}`)), /more than 32 MiB/);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const chart = '"metadata":{"name":"web"}';
    for (const text of [`{"config":${deep},"chart":{${chart}}}`, `{"chart":{${chart},"values":${deep}}}`]) {
      await assert.rejects(readRelease(packed(text)), /nested more than 200 levels/);
    }
  });
});

describe('who may do what to an object', () => {
  const role = (name: string, rule: object) => ({ metadata: { name }, rules: [rule] });
  const binding = (name: string, kind: string, roleName: string, ...subjects: object[]) => ({
    ...{ metadata: { name }, roleRef: { kind, name: roleName } },
    subjects,
  });
  const user = (name: string) => ({ kind: 'User', name });
  const rules = {
    clusterRoles: [
      role('all', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }),
      role('view', { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] }),
    ],
    clusterRoleBindings: [binding('admins', 'ClusterRole', 'all', { kind: 'Group', name: 'admins' })],
    roles: [
      role('one', { apiGroups: [''], resources: ['secrets'], resourceNames: ['s'], verbs: ['get', 'create'] }),
      role('view', { apiGroups: [''], resources: ['pods'], verbs: ['get'] }),
    ],
    roleBindings: [
      binding('viewers', 'ClusterRole', 'view', user('ann'), { kind: 'ServiceAccount', name: 'a', namespace: 'm' }),
      binding('own-view', 'Role', 'view', user('bob')),
      binding('one', 'Role', 'one', user('ann'), user('eve')),
      binding('gone', 'Role', 'nothing', user('eve')),
    ],
  };
  const told = (asked: object) =>
    whoMay({ group: '', resource: 'secrets', namespace: 'n', name: 's', ...asked }, rules).map(
      ({ kind, name, verbs, through }) => [
        kind,
        name,
        [...verbs].join(' '),
        through.map((each) => each.binding).join(' '),
      ],
    );

  it('follows bindings to roles, by names of objects too', () => {
    assert.deepEqual(told({}), [
      ['Group', 'admins', 'get list watch create update patch delete', 'admins'],
      ['ServiceAccount', 'a', 'get list', 'viewers'],
      ['User', 'ann', 'get list', 'viewers one'],
      ['User', 'eve', 'get', 'one'],
    ]);
    assert.deepEqual(
      told({ name: 'other' }).map(([, name]) => name),
      ['admins', 'a', 'ann'],
    );
    assert.deepEqual(told({ namespace: '', resource: 'nodes' }).length, 1);
  });
});

describe('a search over all kinds', () => {
  it('looks through the pages of lists, exact names first, and says what it could not see', async () => {
    const kind = (resource: string) => ({
      ...{ group: '', version: 'v1', resource, kind: resource, namespaced: true, verbs: ['list'], shortNames: [] },
    });
    const item = (name: string) => ({ metadata: { name, namespace: 'n' } });
    const asked: string[] = [];
    const api = {
      json: async (path: string) => {
        asked.push(path);
        if (path.startsWith('/api/v1/secrets')) throw new Error('forbidden');
        if (path.startsWith('/api/v1/pods')) return { items: [item('my-web-1')], metadata: { continue: 'more' } };
        return path.includes('continue') ? { items: [] } : { items: [item('web'), item('other')], metadata: {} };
      },
    };
    const kinds = ['pods', 'secrets', 'services', 'events'].map(kind);
    let last: SearchState | undefined;
    const show = (state: SearchState) => {
      last = state;
    };
    const { signal } = new AbortController();
    await searchAll(api as never, { kinds, suffix: 'k8s.io', namespace: '', text: 'Web' }, show, signal);
    assert.deepEqual([...new Set(last?.found.map(({ name }) => name))], ['web', 'my-web-1']);
    assert.deepEqual([last?.left, last?.refused], [0, ['secrets']]);
    assert.ok(asked.some((path) => path.includes('continue=more')));
    assert.ok(!asked.some((path) => path.includes('events')));
  });
});
