import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KindSchema, type Schema, Schemas } from './openapi-schema.js';
import { helpAt, noiseIn, offersAt } from './yaml-completion.js';
import { anyItem, yamlPlace } from './yaml-path.js';

const container: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', description: 'The name of the container.' },
    imagePullPolicy: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'] },
    ports: { type: 'array', items: { type: 'object', properties: { containerPort: { type: 'integer' } } } },
    stdin: { type: 'boolean' },
  },
};
const pod: KindSchema = {
  root: { properties: { spec: { allOf: [{ $ref: '#/components/schemas/PodSpec' }], description: 'What is wanted.' } } },
  named: {
    PodSpec: {
      type: 'object',
      properties: {
        containers: { type: 'array', items: { $ref: '#/components/schemas/Container' } },
        nodeSelector: { type: 'object', additionalProperties: { type: 'string' } },
        self: { $ref: '#/components/schemas/Loop' },
        many: { $ref: '#/components/schemas/ManyLoops' },
        lists: { $ref: '#/components/schemas/Lists' },
        odd: { enum: [{ toString: null }, 'a'], default: { toString: null } },
      },
    },
    Container: container,
    Loop: { allOf: [{ $ref: '#/components/schemas/Loop' }] },
    // Extension servers write such documents as they like.
    ManyLoops: { allOf: Array.from({ length: 9 }, () => ({ $ref: '#/components/schemas/ManyLoops' })) },
    Lists: { type: 'array', items: { $ref: '#/components/schemas/Lists' } },
  },
};
const schemaOf = async (apiVersion: string, kind: string) => (apiVersion === 'v1' && kind === 'Pod' ? pod : undefined);

/** The lines of a text, and where the bar in it stands. */
function cursor(text: string): readonly [lines: readonly string[], line: number, column: number] {
  const before = text.slice(0, text.indexOf('|')).split('\n');
  return [text.replace('|', '').split('\n'), before.length - 1, before.at(-1)?.length ?? 0];
}

describe('the place of a cursor in YAML', () => {
  const cases: readonly (readonly [text: string, path: readonly unknown[], typed: string, isValue?: boolean])[] = [
    ['|', [], ''],
    ['spec:\n  cont|', ['spec'], 'cont'],
    ['spec:\n  |', ['spec'], ''],
    ['spec:\n  a: 1\n|', [], ''],
    ['spec:\n  containers:\n    - na|', ['spec', 'containers', anyItem], 'na'],
    ['spec:\n  containers:\n  - na|', ['spec', 'containers', anyItem], 'na'],
    ['spec:\n  containers:\n  - name: x\n    im|', ['spec', 'containers', anyItem], 'im'],
    ['spec:\n  containers:\n  - name: x\n  no|', ['spec'], 'no'],
    ['a:\n- b:\n  - c: 1\n    d|', ['a', anyItem, 'b', anyItem], 'd'],
    ['a:\n- - b: 1\n    c|', ['a', anyItem, anyItem], 'c'],
    ['spec:\n  # note\n\n  imagePullPolicy: Al|', ['spec'], 'Al', true],
    ['spec:\n  stdin: |', ['spec'], '', true],
    ['a:\n  b: 1\n---\nc|', [], 'c'],
    ['"quoted key":\n  x|', ['quoted key'], 'x'],
    ['image: nginx:1.27\nx|', [], 'x'],
  ];
  for (const [text, path, typed, isValue = false] of cases) {
    it(`of ${JSON.stringify(text)}`, () => {
      const place = yamlPlace(...cursor(text));
      assert.deepEqual([place.path, place.typed, place.isValue], [path, typed, isValue]);
    });
  }
});

describe('the editor of YAML', () => {
  const head = 'apiVersion: v1\nkind: Pod\n';
  const offers = async (text: string) => (await offersAt(...cursor(head + text), schemaOf))?.offers ?? [];
  const names = async (text: string) => (await offers(text)).map((offer) => offer.text);

  it('offers the fields of the kind that are not there yet, those of lists and references too', async () => {
    assert.deepEqual(await names('spec:\n  |'), ['containers', 'nodeSelector', 'self', 'many', 'lists', 'odd']);
    assert.deepEqual(await names('spec:\n  containers:\n  - name: a\n    stdin: true\n    |'), [
      'imagePullPolicy',
      'ports',
    ]);
    assert.deepEqual(await names('spec:\n  containers:\n  - |\n    ports: []'), ['name', 'imagePullPolicy', 'stdin']);
    assert.deepEqual(await names('spec:\n  containers:\n  - name: a\n  - |'), Object.keys(container.properties ?? {}));
    const [, , ports] = await offers('spec:\n  containers:\n  - n|');
    assert.equal(ports?.inserted, 'ports:\n    - ');
    assert.equal((await offers('spec:\n  containers:\n  - n|'))[0]?.isRequired, true);
  });

  it('offers values that the schema names', async () => {
    assert.deepEqual(await names('spec:\n  containers:\n  - imagePullPolicy: |'), ['Always', 'IfNotPresent', 'Never']);
    assert.deepEqual(await names('spec:\n  containers:\n  - stdin: t|'), ['true', 'false']);
  });

  it('offers nothing for kinds, fields and schemas that say nothing, or that never end', async () => {
    assert.equal(await offersAt(...cursor('apiVersion: v2\nkind: Pod\nspec:\n  |'), schemaOf), undefined);
    assert.equal(await offersAt(...cursor('spec:\n  |'), schemaOf), undefined);
    assert.deepEqual(await names('spec:\n  constructor:\n    |'), []);
    assert.deepEqual(await names('spec:\n  nodeSelector:\n    |'), []);
    assert.deepEqual(await names('spec:\n  self:\n    |'), []);
    assert.deepEqual(await names('spec:\n  many:\n    |'), []);
    assert.deepEqual(await names('spec:\n  odd: |'), ['a']);
    const lists = (await offers('spec:\n  |')).find(({ text }) => text === 'lists');
    assert.match(lists?.type ?? '', /^list of list of .*…$/);
  });

  it('looks at the document of the cursor alone', async () => {
    const text = `apiVersion: other/v1\nkind: Other\n---\n${head}spec:\n  |`;
    const found = await offersAt(...cursor(text), schemaOf);
    assert.equal(found?.offers.length, Object.keys(pod.named.PodSpec?.properties ?? {}).length);
  });

  it('explains a field', async () => {
    const help = await helpAt(...cursor(`${head}spec:\n  containers:\n  - na|me: x`), schemaOf);
    assert.deepEqual(help, {
      field: 'name',
      type: 'string',
      description: 'The name of the container.',
      isRequired: true,
    });
    assert.equal((await helpAt(...cursor(`${head}sp|ec:`), schemaOf))?.description, 'What is wanted.');
    assert.equal(await helpAt(...cursor(`${head}nothing|:`), schemaOf), undefined);
  });

  it('reads the document of a group once, and again after a failure', async () => {
    const asked: string[] = [];
    let fails = true;
    const gvk = [{ group: 'apps', version: 'v1', kind: 'Deployment' }];
    const api = {
      json: async (path: string) => {
        asked.push(path);
        if (path === '/openapi/v3') return { paths: { 'apis/apps/v1': { serverRelativeURL: '/openapi/v3/x?hash=1' } } };
        if (fails) throw new Error('unreachable');
        return { components: { schemas: { D: { 'x-kubernetes-group-version-kind': gvk } } } };
      },
    };
    const schemas = new Schemas(api as never);
    assert.equal(await schemas.of('apps/v1', 'Deployment'), undefined);
    fails = false;
    assert.ok(await schemas.of('apps/v1', 'Deployment'));
    assert.equal(await schemas.of('apps/v1', 'Other'), undefined);
    assert.equal(await schemas.of('other/v1', 'Other'), undefined);
    assert.deepEqual(asked, ['/openapi/v3', '/openapi/v3/x?hash=1', '/openapi/v3', '/openapi/v3/x?hash=1']);
  });

  it('folds what programs write', () => {
    const text = [
      ...[
        'metadata:',
        '  annotations:',
        '    kubectl.kubernetes.io/last-applied-configuration: |',
        '      {}',
        '    b: c',
      ],
      ...['spec:', '  status: x', '  more:', '    status:', '      a: 1', 'status:', '  conditions:', '  - a: 1', ''],
    ];
    assert.deepEqual(noiseIn(text), [
      { from: 2, to: 3 },
      { from: 10, to: 12 },
    ]);
    assert.deepEqual(noiseIn(['status: {}', 'x: 1']), []);
  });
});
