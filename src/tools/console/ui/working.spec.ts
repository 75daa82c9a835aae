import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  actionsOf,
  decideRequest,
  drainPlan,
  drainWarnings,
  evictRequest,
  flipRequest,
  jobOf,
  restartRequest,
  scaleRequest,
} from './actions.js';
import { startDebugger } from './debug-container.js';
import { collectionOf, pastedObjects } from './documents.js';
import { exactJson } from './exact-json.js';
import { FloodGate } from './flood-gate.js';
import { sectionsOf } from './kind-sections.js';
import { labelPatch } from './label-patch.js';
import { cleanLine, LogBuffer, linesWith, toneOfLine } from './log-buffer.js';
import { sourcesOf, usualContainer } from './log-sources.js';
import { endOfInput, inputMessage, ProgramReader, resizeMessage, wordsOf } from './pod-channel.js';
import { revisionsOf, rollbackRequest, templateText } from './revisions.js';
import { byteText, decodedText } from './secret-text.js';
import { streamPath } from './terminal-modes.js';

const subject = (resource: string, group = '') => ({ group, resource, namespace: 'n', name: 'a' });

describe('actions', () => {
  it('are those that fit the kind and its state, each with the rights that it needs', () => {
    const titles = (resource: string, group: string, object: object) =>
      actionsOf(subject(resource, group), object).map(({ title }) => title);
    assert.deepEqual(titles('deployments', 'apps', {}), ['Scale…', 'Restart', 'Roll back…', 'Pause rollout']);
    assert.ok(titles('deployments', 'apps', { spec: { paused: true } }).includes('Resume rollout'));
    assert.deepEqual(titles('nodes', '', { spec: { unschedulable: true } }), ['Uncordon', 'Drain…']);
    assert.deepEqual(titles('cronjobs', 'batch', {}), ['Run now', 'Suspend']);
    assert.deepEqual(titles('pods', '', { status: { phase: 'Running' } }), ['Evict']);
    assert.deepEqual(titles('pods', '', { status: { phase: 'Failed' } }), []);
    assert.deepEqual(titles('certificatesigningrequests', 'certificates.example.io', {}), ['Approve', 'Deny']);
    assert.deepEqual(titles('deployments', 'other.example.com', {}), []);
    const [scale] = actionsOf(subject('deployments', 'apps'), {});
    assert.deepEqual(scale?.rights, [
      { verb: 'patch', group: 'apps', resource: 'deployments', namespace: 'n', name: 'a', subresource: 'scale' },
    ]);
  });

  it('send what kubectl would', () => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    assert.deepEqual(restartRequest('/p', at).body, {
      spec: {
        template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-01-02T03:04:05Z' } } },
      },
    });
    assert.deepEqual([scaleRequest('/p', 0).path, scaleRequest('/p', 0).body], ['/p/scale', { spec: { replicas: 0 } }]);
    assert.deepEqual(flipRequest('/p', { spec: { paused: true } }, 'paused').body, { spec: { paused: false } });
    const evict = evictRequest('/p', { metadata: { name: 'a', namespace: 'n', uid: 'u' } });
    assert.equal(evict.path, '/p/eviction');
    assert.deepEqual((evict.body as { deleteOptions?: object }).deleteOptions, { preconditions: { uid: 'u' } });
    const { name, body } = jobOf(
      {
        metadata: { name: 'x'.repeat(60), uid: 'u' },
        spec: { jobTemplate: { metadata: { labels: { a: 'b' } }, spec: { template: {} } } },
      },
      'manual-1',
    );
    assert.ok(name.length <= 63 && name.endsWith('-manual-1'));
    assert.deepEqual((body as { spec: object }).spec, { template: {} });
    const decided = decideRequest('/p', { metadata: { name: 'r' }, status: {} }, 'Approved', 'ann');
    assert.equal(decided.path, '/p/approval');
    assert.match(JSON.stringify(decided.body), /"type":"Approved","status":"True"/);
  });

  it('plan a drain as kubectl does', () => {
    const pod = (name: string, owner?: string, more: object = {}) => ({
      metadata: { name, namespace: 'n', ...(owner && { ownerReferences: [{ kind: owner, name: owner }] }), ...more },
      spec: { volumes: name === 'local' ? [{ name: 'v', emptyDir: {} }] : [] },
      status: { phase: 'Running' },
    });
    const mirror = pod('static', undefined, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    const plan = drainPlan([pod('web', 'ReplicaSet'), pod('agent', 'DaemonSet'), mirror, pod('local')]);
    assert.deepEqual(
      plan.staying.map(({ name }) => name),
      ['n/agent', 'n/static'],
    );
    assert.equal(plan.evicted.length, 2);
    const warnings = drainWarnings(plan.evicted);
    assert.equal(warnings.length, 2);
    assert.match(warnings.join(), /n\/local belongs to nothing.*n\/local has an emptyDir/);
  });

  it('roll back to the template of a revision', () => {
    const owner = { ownerReferences: [{ uid: 'd' }] };
    const set = (revision: string, image: string, uid = 'd') => ({
      metadata: {
        ownerReferences: [{ uid }],
        annotations: { 'deployment.kubernetes.io/revision': revision, 'kubernetes.io/change-cause': `to ${image}` },
      },
      spec: { template: { metadata: { labels: { app: 'a', 'pod-template-hash': 'x' } }, spec: { image } } },
    });
    const workload = { metadata: { uid: 'd', resourceVersion: '7' } };
    const found = revisionsOf(workload, [set('1', 'a:1'), set('10', 'a:10'), set('2', 'a:2'), set('3', 'other', 'e')]);
    assert.deepEqual(
      found.map(({ number, cause }) => [number, cause]),
      [
        [10, 'to a:10'],
        [2, 'to a:2'],
        [1, 'to a:1'],
      ],
    );
    const [, second] = found;
    assert.ok(second);
    assert.doesNotMatch(templateText(second.template), /hash/);
    assert.deepEqual(rollbackRequest('/p', workload, second).body, [
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
      { op: 'replace', path: '/spec/template', value: { metadata: { labels: { app: 'a' } }, spec: { image: 'a:2' } } },
    ]);
    const data = { spec: { template: { $patch: 'replace', spec: {} } } };
    const [kept] = revisionsOf(workload, [{ metadata: owner, revision: 3, data }]);
    assert.ok(kept);
    assert.deepEqual(rollbackRequest('/p', workload, kept).body, data);
    assert.doesNotMatch(templateText(kept.template), /patch/);
  });

  it('keep the digits of large numbers', () => {
    assert.equal(
      exactJson({ a: [9007199254740993n, 'x', undefined], b: undefined, c: null }),
      '{"a":[9007199254740993,"x",null],"c":null}',
    );
  });

  it('set and remove labels', () => {
    assert.deepEqual(labelPatch('tier=web, stage- empty='), {
      metadata: { labels: { tier: 'web', stage: null, empty: '' } },
    });
    for (const text of ['', 'alone', '=x']) assert.ok('problem' in labelPatch(text), text);
  });
});

describe('pasted text', () => {
  it('is taken apart into its objects, each as it was typed', () => {
    const text =
      '# first\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: n}\n---\n\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: b # mine\n';
    const objects = pastedObjects(text);
    assert.ok(!('problem' in objects));
    assert.deepEqual(
      objects.map(({ kind, namespace, name }) => [kind, namespace, name]),
      [
        ['ConfigMap', 'n', 'a'],
        ['Deployment', '', 'b'],
      ],
    );
    assert.match(objects[1]?.text ?? '', /^apiVersion: apps\/v1\n[\s\S]*# mine/);
    assert.doesNotMatch(objects[0]?.text ?? '', /---|Deployment/);
    assert.deepEqual(pastedObjects(''), []);
    for (const [bad, problem] of [
      ['a: [', /./],
      ['a: 1', /apiVersion/],
      ['apiVersion: v1\nkind: A\n---\nb: 1', /document 2/],
      ['apiVersion: v1\nkind: List\nitems: []', /documents of their own/],
      ['a: &x [1]\nb: *x\napiVersion: v1\nkind: A', /alias/i],
    ] as const) {
      const outcome = pastedObjects(bad);
      assert.ok('problem' in outcome && problem.test(outcome.problem), bad);
    }
  });

  it('goes to the collection of its kind, in the version that it names', () => {
    const kinds = [
      {
        group: 'apps',
        version: 'v1',
        resource: 'deployments',
        kind: 'Deployment',
        namespaced: true,
        verbs: [],
        shortNames: [],
      },
      { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false, verbs: [], shortNames: [] },
    ];
    const pasted = (apiVersion: string, kind: string, namespace = '') => ({
      text: '',
      apiVersion,
      kind,
      namespace,
      name: 'a',
    });
    assert.equal(
      collectionOf(kinds, pasted('apps/v1beta9', 'Deployment', 'n/x'), ''),
      '/apis/apps/v1beta9/namespaces/n%2Fx/deployments',
    );
    assert.equal(
      collectionOf(kinds, pasted('apps/v1', 'Deployment'), 'mine'),
      '/apis/apps/v1/namespaces/mine/deployments',
    );
    assert.equal(collectionOf(kinds, pasted('v1', 'Node', 'ignored'), 'mine'), '/api/v1/nodes');
    assert.equal(collectionOf(kinds, pasted('v1', 'Missing'), ''), undefined);
  });
});

describe('a terminal', () => {
  it('reads what a program sends, also letters in pieces', () => {
    const reader = new ProgramReader();
    const bytes = new TextEncoder().encode('ä');
    assert.deepEqual(reader.read(Uint8Array.of(1, bytes[0] ?? 0)), { kind: 'output', text: '' });
    assert.deepEqual(reader.read(Uint8Array.of(1, bytes[1] ?? 0)), { kind: 'output', text: 'ä' });
    assert.deepEqual(reader.read(Uint8Array.of(2, 0x21)), { kind: 'errors', text: '!' });
    const outcome = (text: string) => reader.read(Uint8Array.of(3, ...new TextEncoder().encode(text)));
    assert.deepEqual(outcome('{"status":"Success"}'), { kind: 'ended', message: '' });
    assert.deepEqual(outcome('{"status":"Failure","message":"exit 1"}'), { kind: 'ended', message: 'exit 1' });
    assert.deepEqual(outcome('null'), { kind: 'ended', message: 'it ended in an unknown way' });
    assert.equal(reader.read(Uint8Array.of(77, 1)), undefined);
    assert.equal(reader.read(Uint8Array.of()), undefined);
    assert.deepEqual([...inputMessage('a\n')], [0, 97, 10]);
    assert.deepEqual([...endOfInput()], [255, 0]);
    const resize = resizeMessage({ columns: 80, rows: 24 });
    assert.equal(resize[0], 4);
    assert.equal(new TextDecoder().decode(resize.subarray(1)), '{"Width":80,"Height":24}');
  });

  it('divides a command into words', () => {
    for (const [line, words] of [
      ['sh', ['sh']],
      ['  sh  -c "echo \\"a b\\"" ', ['sh', '-c', 'echo "a b"']],
      ["echo 'a\\b' '' c\\ d", ['echo', 'a\\b', '', 'c d']],
      ['', []],
    ] as const) {
      assert.deepEqual(wordsOf(line), words);
    }
    assert.ok('problem' in wordsOf('echo "a'));
  });
});

describe('a terminal', () => {
  const pod = {
    spec: {
      containers: [{ name: 'app' }, { name: 'shell', tty: true, stdin: true }],
      ephemeralContainers: [{ name: 'debugger-2' }],
    },
  };

  it('is connected to a new program, or to what runs, with what that has', () => {
    const path = (mode: 'exec' | 'attach' | 'debug', container: string) =>
      streamPath('/p', { pod, mode, container, words: ['sh', '-c', 'a b'] });
    const exec = '/p/exec?container=app&stdout=true&stdin=true&tty=true&command=sh&command=-c&command=a+b';
    assert.deepEqual(path('exec', 'app'), { path: exec, isTerminal: true });
    const attach = '/p/attach?container=app&stdout=true&stderr=true';
    assert.deepEqual(path('attach', 'app'), { path: attach, isTerminal: false });
    assert.match(path('attach', 'shell').path, /stdin=true&tty=true$/);
    assert.match(path('debug', 'debugger-1').path, /attach\?container=debugger-1&stdout=true&stdin=true&tty=true$/);
  });

  it('of a debugging container waits until that runs, and says why it does not yet', async () => {
    const states = [
      undefined,
      { waiting: { reason: 'ErrImagePull', message: 'no such image' } },
      { waiting: { reason: 'ErrImagePull', message: 'no such image' } },
      { running: {} },
    ];
    const sent: string[] = [];
    const api = {
      text: async (path: string, { body }: { body: string }) => void sent.push(path, body),
      json: async () => ({
        status: { ephemeralContainerStatuses: [{ name: 'debugger-3', state: states.shift() ?? { waiting: {} } }] },
      }),
    };
    const said: string[] = [];
    const started = { says: (text: string) => said.push(text), wait: async () => {} };
    const wanted = {
      path: '/p',
      pod: { spec: { ephemeralContainers: [{ name: 'debugger-2' }, { name: 'debugger-1' }] } },
    };
    const { signal } = new AbortController();
    const name = await startDebugger(api as never, { ...wanted, image: 'i', target: 'app' }, { ...started, signal });
    assert.equal(name, 'debugger-3');
    assert.deepEqual(said, ['debugger-3 starts', 'debugger-3 waits: no such image']);
    assert.match(sent[0] ?? '', /^\/p\/ephemeralcontainers\?/);
    assert.deepEqual(JSON.parse(sent[1] ?? ''), {
      spec: {
        ephemeralContainers: [{ name: 'debugger-3', image: 'i', stdin: true, tty: true, targetContainerName: 'app' }],
      },
    });
    const ended = {
      status: { ephemeralContainerStatuses: [{ name: 'debugger-1', state: { terminated: { reason: 'Error' } } }] },
    };
    const ends = { ...api, json: async () => ended };
    const again = startDebugger(ends as never, { path: '/p', pod: {}, image: 'i', target: '' }, { ...started, signal });
    await assert.rejects(again, /has ended: Error/);
  });

  it('leaves out what a program writes faster than it can be drawn, and says how much', () => {
    const drawn: (() => void)[] = [];
    let shown = '';
    const gate = new FloodGate((text, done) => {
      shown += text;
      drawn.push(done);
    });
    gate.add('a'.repeat(3_000_000));
    gate.add('b'.repeat(10));
    gate.add('c'.repeat(10));
    assert.equal(shown.length, 3_000_000);
    drawn.shift()?.();
    assert.match(shown, /20 letters were left out/);
    gate.add('next');
    assert.match(shown, /next$/);
  });
});

describe('logs', () => {
  it('lose the codes of terminals', () => {
    assert.equal(cleanLine('\u001b[31merror\u001b[0m \u001b]8;;http://evil\u0007link\u001b]8;;\u0007'), 'error link');
    assert.equal(cleanLine('a\u202eb\u0000c\td'), 'abc\td');
  });

  it('keep the last lines, and find words in them', () => {
    const buffer = new LogBuffer(10);
    for (let line = 1; line <= 100; line++) buffer.add('web', `line ${line}`);
    assert.equal(buffer.total, 100);
    assert.deepEqual([buffer.last.length, buffer.last[0]?.text, buffer.last.at(-1)?.text], [10, 'line 91', 'line 100']);
    assert.deepEqual(
      linesWith(buffer.last, '5 LINE').map(({ text }) => text),
      ['line 95'],
    );
    buffer.add('', 'x'.repeat(10_000));
    assert.ok((buffer.last.at(-1)?.text.length ?? 0) < 5000);
    assert.deepEqual(['level=error x', 'a warning', 'no terrors'].map(toneOfLine), ['bad', 'warn', undefined]);
  });

  it('come from the containers that are chosen', () => {
    const pod = (name: string) => ({
      metadata: { name, annotations: { 'kubectl.kubernetes.io/default-container': 'b' } },
      spec: { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] },
    });
    const pods = [pod('x'), pod('y')];
    assert.equal(usualContainer(pods[0]), 'b');
    assert.equal(sourcesOf(pods, '', '').length, 4);
    assert.deepEqual(sourcesOf(pods, 'y', 'i'), [{ pod: 'y', container: 'i' }]);
    assert.equal(
      sourcesOf(
        Array.from({ length: 50 }, () => pod('z')),
        '',
        '',
      ).length,
      12,
    );
  });
});

describe('summaries', () => {
  it('say what people want to know, with links', () => {
    const pod = {
      metadata: { name: 'p', namespace: 'n' },
      spec: {
        nodeName: 'node-1',
        containers: [{ name: 'app', image: 'a:1', envFrom: [{ secretRef: { name: 's' } }] }],
        volumes: [{ name: 'v', configMap: { name: 'c' } }],
      },
      status: { containerStatuses: [{ name: 'app', state: { waiting: { reason: 'ErrImagePull' } } }] },
    };
    const text = JSON.stringify(sectionsOf('pods', pod));
    for (const target of [
      { group: '', resource: 'nodes', namespace: '', name: 'node-1' },
      { group: '', resource: 'secrets', namespace: 'n', name: 's' },
      { group: '', resource: 'configmaps', namespace: 'n', name: 'c' },
    ]) {
      assert.ok(text.includes(JSON.stringify(target)), text);
    }
    assert.match(text, /"text":"ErrImagePull","tone":"bad"/);
  });

  it('survive objects of any shape', () => {
    const shapes = [
      {},
      null,
      'text',
      { spec: 'x', status: [1], metadata: null },
      { spec: { containers: {}, rules: [null] } },
    ];
    for (const resource of ['pods', 'services', 'nodes', 'roles', 'ingresses', 'cronjobs', 'things', 'constructor']) {
      for (const shape of shapes) assert.ok(Array.isArray(sectionsOf(resource, shape)), resource);
    }
  });

  it('decode values of secrets that are texts', () => {
    assert.equal(decodedText('aMOkdXNlcg=='), 'häuser');
    assert.equal(decodedText('AAEC'), undefined);
    assert.equal(decodedText('!'), undefined);
    assert.deepEqual(['YQ==', 'YWI=', ''].map(byteText), ['1 byte', '2 bytes', '0 bytes']);
  });
});
