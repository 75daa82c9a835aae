import { definitionCase, freeSchema, type HostileCase, type InstanceStep } from './definition-case.js';
import { instance, integer, nested, object, spec, text, times } from './parts.js';

const keyed = spec(
  `"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":${object(`"k":${text},"v":${integer}`, ',"required":["k"]')}},"s":{"type":"array","x-kubernetes-list-type":"set","items":${text}},"n":${integer},"f":{"type":"number"},"p":{"x-kubernetes-int-or-string":true}`,
);
const free = spec('', ',"x-kubernetes-preserve-unknown-fields":true');
const apply = (name: string, content: () => string, manager = 'm', expect?: readonly number[]): InstanceStep => ({
  method: 'PATCH',
  path: `/${name}?fieldManager=${manager}&force=true`,
  contentType: 'application/apply-patch+yaml',
  body: () => instance(name, content()),
  ...(expect === undefined ? {} : { expect }),
});
const merge = (path: string, body: string, expect?: readonly number[]): InstanceStep => ({
  method: 'PATCH',
  path,
  contentType: 'application/merge-patch+json',
  body: () => body,
  ...(expect === undefined ? {} : { expect }),
});
const json = (path: string, body: () => string): InstanceStep => ({
  method: 'PATCH',
  path,
  contentType: 'application/json-patch+json',
  body,
});

function values(
  name: string,
  schema: string,
  ...bodies: readonly (readonly [content: () => string, ...expect: number[]])[]
) {
  return definitionCase({
    name: `instance: ${name}`,
    expect: [201],
    schema: () => schema,
    steps: bodies.map(([content, ...expect], i) => ({
      body: () => instance(`i${i}`, content()),
      ...(expect.length > 0 ? { expect } : {}),
    })),
  });
}

const scaled = (paths: string) => `,"subresources":{"status":{},"scale":{${paths}}}`;
const plain =
  '"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"';

/** Hostile objects of custom kinds. */
export const instanceCases: readonly HostileCase[] = [
  values('list map of 100,000 items', keyed, [() => `{"l":[${times(100_000, (i) => `{"k":"${i}"}`)}]}`, 201, 413]),
  values('list map of 100,000 alike', keyed, [() => `{"l":[${times(100_000, () => '{"k":"a"}')}]}`, 422]),
  values('list map of 100,000 without keys', keyed, [() => `{"l":[${times(100_000, () => '{}')}]}`, 422]),
  values('list map of 300,000 nulls', keyed, [() => `{"l":[${times(300_000, () => 'null')}]}`, 422]),
  values('list map with keys of other types', keyed, [() => '{"l":[{"k":1},{"k":null},{"k":{}},{"k":[]},1,"x"]}', 422]),
  values(
    'set of 200,000',
    keyed,
    // Who owns each of them is part of the object, which makes it too large.
    [() => `{"s":[${times(200_000, (i) => `"${i}"`)}]}`, 201, 413],
    [() => `{"s":[${times(200_000, () => '"a"')}]}`, 422],
  ),
  values(
    'numbers',
    keyed,
    [() => '{"n":1e400}', 400, 422],
    [() => '{"n":NaN}', 400],
    [() => '{"n":-0}', 201],
    [() => '{"n":1.0}', 201, 422],
    [() => '{"n":99999999999999999999}', 201, 422],
    [() => '{"f":1e-400}', 201],
    [() => '{"f":Infinity}', 400],
    [() => `{"f":${'9'.repeat(1_000_000)}}`],
    [() => '{"p":1.5}', 422],
    [() => '{"p":1e2}'],
    [() => '{"p":true}', 422],
    [() => '{"p":9223372036854775808}'],
    [() => '{"n":0x10}', 400],
    [() => '{"n":+1}', 400],
    [() => '{"n":01}', 400],
  ),
  values('numbers kept as they are', free, [
    () => '{"a":[-0,1e400,1e308,123456789012345678901234567890,0.1e-7,1.0]}',
    201,
    400,
  ]),
  values('null everywhere', keyed, [() => 'null'], [() => '{"l":null,"s":null,"n":null,"f":null,"p":null}']),
  values(
    'other types everywhere',
    keyed,
    [() => '[]', 422],
    [() => '"x"', 422],
    [() => '1', 422],
    [() => '{"l":{},"s":1,"n":"x","f":[],"p":{}}', 422],
  ),
  values('duplicate keys', free, [() => '{"a":1,"a":2}', 201], [() => `{${times(200_000, () => '"a":1')}}`]),
  values(
    'nested very deep',
    free,
    [() => nested(9_000, '{"a":', '1', '}')],
    [() => nested(400_000, '[', '1', ']')],
    [() => nested(900, '[', '1', ']')],
  ),
  values(
    '3 MB kept',
    free,
    [() => `{${times(150_000, (i) => `"k${i}":{"a":1}`)}}`],
    [() => `{"a":"${'a'.repeat(2_800_000)}"}`],
    [() => `{"a":[${times(700_000, () => '1')}]}`],
  ),
  values('3 MB dropped', keyed, [() => `{${times(150_000, (i) => `"k${i}":{"a":1}`)}}`, 201, 413]),
  values(
    'texts with NUL and lone surrogates',
    free,
    [() => '{"a":"\\u0000"}'],
    [() => '{"\\u0000":1}'],
    [() => '{"a":"\\ud800"}'],
    [() => '{"\\udc00":1}'],
  ),
  definitionCase({
    name: 'instance: 3 MB of unknown fields, strict',
    schema: () => keyed,
    steps: [
      {
        path: '?fieldValidation=Strict',
        body: () => instance('a', `{${times(150_000, (i) => `"k${i}":1`)}}`),
        expect: [400],
      },
    ],
  }),
  definitionCase({
    name: 'apply: list map of 30,000 items, twice',
    schema: () => keyed,
    steps: [
      apply('a', () => `{"l":[${times(30_000, (i) => `{"k":"${i}"}`)}]}`),
      apply('a', () => `{"l":[${times(30_000, (i) => `{"k":"${i + 15_000}","v":1}`)}]}`, 'n'),
      apply('a', () => '{"l":[]}'),
    ],
  }),
  definitionCase({
    name: 'apply: missing and duplicate keys',
    schema: () => keyed,
    steps: [
      apply('a', () => '{"l":[{"k":"a"},{"k":"a"}]}', 'm', [400, 422]),
      apply('a', () => '{"l":[{"v":1}]}', 'm', [400, 422]),
      apply('a', () => '{"l":[{"k":null}]}', 'm', [400, 422]),
      apply('a', () => '{"l":"x"}', 'm', [400, 422]),
      apply('a', () => `{"l":[${times(100_000, () => '{"k":"a"}')}]}`, 'm', [400, 422]),
      apply('a', () => `{"s":[${times(100_000, () => '"a"')}]}`, 'm', [400, 422]),
      apply('a', () => '{"l":[{"k":"a"}]}', 'm', [201]),
    ],
  }),
  definitionCase({
    name: 'apply: 3 MB of free fields',
    schema: () => free,
    steps: [
      apply('a', () => `{${times(150_000, (i) => `"k${i}":{"a":1}`)}}`),
      apply('b', () => nested(500, '{"a":', '1', '}')),
      apply('b', () => '{"__proto__":{"a":1},"constructor":null}'),
    ],
  }),
  definitionCase({
    name: 'patch: JSON patches',
    schema: () => free,
    steps: [
      { body: () => instance('a', '{"a":{"b":[1]}}'), expect: [201] },
      json(
        '/a',
        () =>
          '[{"op":"add","path":"/spec/__proto__","value":{"x":1}},{"op":"add","path":"/spec/constructor/prototype/x","value":1}]',
      ),
      json('/a', () => `[${times(9_000, () => '{"op":"copy","from":"/spec","path":"/spec/x"}')}]`),
      json('/a', () => `[${times(24, (i) => `{"op":"copy","from":"/spec","path":"/spec/x${i}"}`)}]`),
      json('/a', () => '[{"op":"replace","path":"","value":null}]'),
      json('/a', () => '[{"op":"replace","path":"/metadata","value":[]}]'),
      json('/a', () => '[{"op":"remove","path":"/kind"},{"op":"remove","path":"/metadata/uid"}]'),
      merge('/a', '{"metadata":{"uid":"x","resourceVersion":"1"}}'),
      merge('/a', '{"metadata":null,"apiVersion":null,"kind":null}'),
      {
        method: 'PATCH',
        path: '/a',
        contentType: 'application/strategic-merge-patch+json',
        body: () => '{}',
        expect: [415],
      },
      { path: '', contentType: 'application/vnd.kubernetes.protobuf', body: () => '{k8s', expect: [415] },
      { path: '', contentType: 'application/yaml', body: () => '{"metadata": &a {"name": *a}}', expect: [400] },
      { method: 'PUT', path: '/a', body: () => '{"metadata":{"name":"b"},"spec":{}}', expect: [400] },
    ],
  }),
  definitionCase({
    name: 'subresource: metadata through /status',
    expect: [201],
    schema: () => object(`"spec":${freeSchema},"status":${freeSchema}`),
    version: () => ',"subresources":{"status":{}}',
    steps: [
      {
        body: () => '{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"x":1},"status":{"no":1}}',
        expect: [201],
        check: ({ body }) => (body.status === undefined ? undefined : 'status was taken'),
      },
      merge(
        '/a/status',
        '{"metadata":{"labels":{"a":"c"},"annotations":{"x":"y"},"finalizers":["x/y"],"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"b"}],"generation":99,"deletionTimestamp":"2020-01-01T00:00:00Z"},"spec":{"x":2},"status":{"phase":"on"}}',
        [200, 422],
      ),
      {
        method: 'GET',
        path: '/a',
        expect: [200],
        check: ({
          body: {
            metadata,
            spec: { x },
          },
        }) => {
          const found = [
            metadata.labels.a,
            metadata.annotations,
            metadata.finalizers,
            metadata.ownerReferences,
            metadata.generation,
            metadata.deletionTimestamp,
            x,
          ];
          const expected = ['b', undefined, undefined, undefined, 1, undefined, 1];
          return JSON.stringify(found) === JSON.stringify(expected) ? undefined : JSON.stringify(found);
        },
      },
      merge('/a/status', '{"metadata":{"uid":"x"}}', [409, 422, 200]),
      merge('/a/status', '{"kind":"Other"}', [400, 422]),
      merge('/a/status', '{"status":null}', [200]),
      merge('/a/status', '{"status":[]}', [422]),
      { method: 'PUT', path: '/a/status', body: () => '{"metadata":{"name":"a"}}' },
      { method: 'PUT', path: '/a/status', body: () => '{}' },
      { method: 'DELETE', path: '/a/status', expect: [405] },
      { path: '/a/status', body: () => '{"metadata":{"name":"a"}}', expect: [405] },
      { method: 'GET', path: '/a/scale', expect: [404] },
      { method: 'GET', path: '/a/constructor', expect: [404] },
      { method: 'GET', path: '/a/__proto__', expect: [404] },
    ],
  }),
  definitionCase({
    name: 'subresource: scale with wrong bodies',
    schema: () => object(`"spec":${freeSchema},"status":${freeSchema}`),
    version: () => scaled(plain),
    steps: [
      ...['2147483648', '-1', '1.5', '"x"', '{}', '[]', '1e30', '99999999999999999999'].map((replicas) => ({
        body: () => instance(`a${replicas.replace(/\W/g, 'x').toLowerCase()}z`, `{"replicas":${replicas}}`),
        expect: [422],
      })),
      { body: () => instance('a', '{"replicas":1}'), expect: [201] },
      merge('/a/status', '{"status":{"replicas":"x","selector":"!!"}}', [422]),
      merge('/a/status', '{"status":{"replicas":1,"selector":"!! not a selector"}}'),
      { method: 'GET', path: '/a/scale', expect: [200] },
      merge('/a/scale', '{"spec":{"replicas":-5}}', [422]),
      merge('/a/scale', '{"spec":{"replicas":1e30}}', [400, 422]),
      merge('/a/scale', '{"spec":{"replicas":"5"}}', [400, 422]),
      merge('/a/scale', '{"spec":null}'),
      merge('/a/scale', '{"metadata":{"labels":{"x":"y"},"finalizers":["a/b"]},"spec":{"replicas":4}}', [200, 422]),
      merge('/a/scale', '{"kind":"Other"}'),
      { method: 'PUT', path: '/a/scale', body: () => '{"metadata":{"name":"b"},"spec":{"replicas":2}}' },
      { body: () => instance('none', '{}'), expect: [201] },
      { method: 'GET', path: '/none/scale' },
      merge('/none/scale', '{"spec":{"replicas":4}}'),
    ],
  }),
  ...[
    '.spec.l[0].n',
    '.spec..x',
    '.spec.',
    '.spec.__proto__.x',
    '.spec.constructor',
    `.spec${'.a'.repeat(20_000)}`,
    ".spec['a']",
  ].map((path) =>
    definitionCase({
      name: `subresource: scale at ${path.slice(0, 20)}`,
      version: () => scaled(`"specReplicasPath":${JSON.stringify(path)},"statusReplicasPath":".status.n"`),
      steps: [
        { body: () => instance('a', '{"l":[{"n":1}],"a":1}') },
        { method: 'GET', path: '/a/scale' },
        merge('/a/scale', '{"spec":{"replicas":2}}'),
        { method: 'GET', path: '/a' },
      ],
    }),
  ),
  definitionCase({
    name: 'subresource: scale path without schema',
    schema: () => spec(`"a":${text}`),
    version: () => scaled(plain),
    steps: [
      { body: () => instance('a', '{"a":"x"}'), expect: [201] },
      { method: 'GET', path: '/a/scale' },
      merge('/a/scale', '{"spec":{"replicas":2}}'),
    ],
  }),
  definitionCase({
    name: 'selectors and queries',
    steps: [
      ...[
        '?labelSelector=__proto__',
        '?labelSelector=constructor%3Dx',
        '?fieldSelector=metadata.constructor%3Dx',
        '?fieldSelector=__proto__%3D',
        '?limit=-1',
        '?limit=1e9',
        '?continue=x',
        '?resourceVersion=x',
        '?resourceVersion=99999999999999999999&resourceVersionMatch=Exact',
      ].map((path) => ({ method: 'GET', path })),
      { method: 'DELETE', path: '?labelSelector=__proto__' },
    ],
  }),
];
