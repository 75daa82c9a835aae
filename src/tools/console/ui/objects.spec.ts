import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Api } from './api.js';
import { textDiff } from './diff-lines.js';
import type { Kind } from './kinds.js';
import { LiveObject } from './live-object.js';
import { type Branch, branchOf, type Known, loadObjects, loadOwners } from './owners.js';
import { readObject, toYaml, versionIn, withoutManagedFields, withVersion, yamlProblem } from './yaml-text.js';

const kind = (resource: string, name: string, group = ''): Kind => ({
  group,
  version: 'v1',
  resource,
  kind: name,
  namespaced: true,
  verbs: ['list', 'get'],
  shortNames: [],
});
const pods = kind('pods', 'Pod');
const sets = kind('replicasets', 'ReplicaSet', 'apps');
const owner = (name: string, of: Kind) => ({
  apiVersion: 'apps/v1',
  kind: of.kind,
  name,
  uid: `uid-${name}`,
  controller: true,
});
const meta = (name: string, ...ownerReferences: ReturnType<typeof owner>[]) => ({
  name,
  namespace: 'n',
  uid: `uid-${name}`,
  ownerReferences,
});

/** An API that answers by path. */
function apiOf(answers: Record<string, object | number>, asked: string[] = []): Api {
  return new Api(
    () => 'key',
    () => {},
    async (path) => {
      asked.push(path);
      const answer = answers[path] ?? 404;
      if (typeof answer !== 'number') return new Response(JSON.stringify(answer));
      return new Response(JSON.stringify({ message: `answer ${answer}` }), { status: answer });
    },
  );
}
const signal = new AbortController().signal;

describe('an object on the page', () => {
  it('keeps numbers that JavaScript would round', () => {
    const object = readObject(
      '{"metadata":{"name":"a"},"spec":{"big":9007199254740993,"small":7,"part":0.5,"text":"9007199254740993"}}',
    );
    const text = toYaml(object);
    assert.match(text, /big: 9007199254740993\n/);
    assert.match(text, /small: 7\n/);
    assert.match(text, /text: "9007199254740993"\n/);
  });

  it('is shown with sorted fields and without managed fields', () => {
    const text = toYaml(
      withoutManagedFields(
        readObject('{"spec":{"b":1,"a":2},"metadata":{"name":"x","managedFields":[{"manager":"m"}]},"kind":"K"}'),
      ),
    );
    assert.equal(text, 'kind: K\nmetadata:\n  name: x\nspec:\n  a: 2\n  b: 1\n');
  });

  it('says what is wrong with an edited text', () => {
    assert.equal(yamlProblem('a: 1'), undefined);
    assert.match(yamlProblem('a: [') ?? '', /./);
    assert.equal(yamlProblem('- a'), 'this is not an object');
    assert.equal(yamlProblem(''), 'this is not an object');
    assert.match(yamlProblem('a: &x [1]\nb: *x') ?? '', /alias/i);
  });

  it('gets another version without a change to the rest of the text', () => {
    const text = 'metadata:\n  # mine\n  resourceVersion: "7"\n  name: a\nspec:\n  note: "resourceVersion: 7"\n';
    const changed = withVersion(text, '9');
    assert.equal(changed, text.replace('"7"', '"9"'));
    assert.equal(versionIn(changed), '9');
    assert.equal(versionIn(withVersion('metadata:\n  name: a\n', '9')), '9');
  });

  it('gets another version where its own stands, and nowhere else', () => {
    const inside = 'data:\n  manifest: |\n    metadata:\n      resourceVersion: "5"\nmetadata:\n  name: a\n';
    for (const [text, changed] of [
      [`${inside}  resourceVersion: "7"\n`, `${inside}  resourceVersion: "9"\n`],
      [inside, inside.replace('  name: a', '  resourceVersion: "9"\n  name: a')],
      ['metadata: {name: a}\n', 'metadata: {resourceVersion: "9", name: a}\n'],
      ['{"metadata":{"resourceVersion":"7"}}', '{"metadata":{"resourceVersion":"9"}}'],
    ] as const) {
      assert.equal(withVersion(text, '9'), changed);
      assert.equal(versionIn(changed), '9');
    }
    for (const text of ['kind: A\n', 'metadata: {}\n', 'metadata:\n']) {
      assert.equal(versionIn(withVersion(text, '9')), '9', text);
    }
  });

  it('has quotes around texts that a server takes for something else', () => {
    const text = toYaml({ a: 'yes', b: 'on', c: '0777', d: '1_000', e: '1:30', f: '2001-12-14', on: 'n', y: '~' });
    assert.equal(text, 'a: "yes"\nb: "on"\nc: "0777"\nd: "1_000"\ne: "1:30"\nf: "2001-12-14"\n"on": "n"\n"y": "~"\n');
  });

  it('follows from the version of a list, not from its own', async () => {
    const asked: string[] = [];
    const object = { kind: 'Pod', metadata: { name: 'a', resourceVersion: '3' } };
    const api = apiOf(
      {
        '/api/v1/pods/a': object,
        '/api/v1/pods?fieldSelector=metadata.name%3Da': {
          metadata: { resourceVersion: '70' },
          items: [{ metadata: object.metadata }],
        },
      },
      asked,
    );
    const stop = new AbortController();
    const live = new LiveObject(api, '/api/v1/pods', 'a', () => {});
    await live.run(stop.signal, async () => stop.abort());
    assert.match(asked[2] ?? '', /watch=true.*resourceVersion=70/);
    assert.equal(live.object?.kind, 'Pod');
  });
});

describe('differences of texts', () => {
  it('show the lines around each change', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const after = lines.with(10, 'other');
    const shown = textDiff(`${lines.join('\n')}\n`, `${after.join('\n')}\n`).map(({ mark, text }) => `${mark}${text}`);
    assert.deepEqual(shown, [
      '…',
      ' line 7',
      ' line 8',
      ' line 9',
      '-line 10',
      '+other',
      ' line 11',
      ' line 12',
      ' line 13',
      '…',
    ]);
    assert.deepEqual(textDiff('a\n', 'a\n'), []);
  });
});

describe('relations of objects', () => {
  it('stay small where everything belongs to everything', () => {
    const layers = Array.from({ length: 40 }, (_, layer) =>
      ['a', 'b'].map((side) => ({
        kind: sets,
        metadata: {
          ...meta(`${side}${layer}`),
          ...(layer > 0 && {
            ownerReferences: ['a', 'b'].map((up) => owner(`${up}${layer - 1}`, sets)),
          }),
        },
      })),
    );
    const count = ({ dependents }: Branch): number => 1 + dependents.reduce((sum, each) => sum + count(each), 0);
    const hasMore = ({ more, dependents }: Branch): boolean => more > 0 || dependents.some(hasMore);
    const branch = branchOf({ kind: sets, metadata: meta('a0') }, layers.flat());
    assert.ok(count(branch) <= 2000 && count(branch) > 100, `${count(branch)}`);
    assert.ok(hasMore(branch));
    const chain = Array.from({ length: 5000 }, (_, index) => ({
      kind: sets,
      metadata: meta(`c${index + 1}`, owner(`c${index}`, sets)),
    }));
    assert.ok(count(branchOf({ kind: sets, metadata: meta('c0') }, chain)) < 100);
  });

  it('lead down to dependents, and stop at circles', () => {
    const objects: Known[] = [
      { kind: sets, metadata: meta('rs', owner('web', sets)) },
      { kind: pods, metadata: meta('b', owner('rs', sets)) },
      { kind: pods, metadata: meta('a', owner('rs', sets)) },
      { kind: pods, metadata: meta('lone') },
      { kind: sets, metadata: meta('web', owner('a', pods)) },
    ];
    const branch = branchOf({ kind: sets, metadata: meta('web') }, objects);
    assert.deepEqual(
      branch.dependents.map(({ known, dependents }) => [
        known.metadata.name,
        dependents.map((each) => each.known.metadata.name),
      ]),
      [['rs', ['a', 'b']]],
    );
    assert.deepEqual(branch.dependents[0]?.dependents[0]?.dependents, []);
  });

  it('lead up to owners, and tell where they end', async () => {
    const api = apiOf({
      '/apis/apps/v1/namespaces/n/replicasets/rs': { metadata: meta('rs', owner('gone', sets)) },
      '/apis/apps/v1/namespaces/n/replicasets/gone': { metadata: { ...meta('gone'), uid: 'another' } },
    });
    const owners = await loadOwners(api, [pods, sets], meta('p', owner('rs', sets)), signal);
    assert.equal('known' in (owners[0] ?? {}), true);
    assert.match(JSON.stringify(owners[1]), /another object/);
    const unknown = { ...owner('x', sets), kind: 'Missing' };
    assert.match(JSON.stringify(await loadOwners(api, [pods], meta('p', unknown), signal)), /does not serve/);
  });

  it('are read in pages, and kinds that may not be read are named', async () => {
    const asked: string[] = [];
    const first = '/api/v1/namespaces/n/pods?limit=500';
    const api = apiOf(
      {
        [first]: { metadata: { continue: 'more' }, items: [{ metadata: meta('a') }] },
        [`${first}&continue=more`]: { metadata: {}, items: [{ metadata: meta('b') }] },
        '/apis/apps/v1/namespaces/n/replicasets?limit=500': 403,
      },
      asked,
    );
    const { objects, problems } = await loadObjects(api, [pods, sets, kind('events', 'Event')], 'k8s.io', 'n', signal);
    assert.deepEqual(
      objects.map(({ metadata }) => metadata.name),
      ['a', 'b'],
    );
    assert.deepEqual(problems, ['replicasets: answer 403']);
    assert.equal(asked.length, 3);
  });
});
