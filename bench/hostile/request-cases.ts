import { configMap, type HostileCase, many, most, paths, pod, service } from './cases.js';

const { configMaps, pods, services } = paths;

function on(
  name: string,
  method: string,
  contentType: string,
  path: string,
  body: () => string | Buffer,
  before?: HostileCase['before'],
): HostileCase {
  return { name, method, contentType, path, body, ...(before === undefined ? {} : { before }) };
}

const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const apply = 'application/apply-patch+yaml';
const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';

const target = (name: string, rest = '') => ({
  method: 'POST',
  path: configMaps,
  contentType: 'application/json',
  body: () => configMap(name, '', rest),
});
const bigData = (count: number) => `,"data":{${Array.from({ length: count }, (_, i) => `"k${i}":"v"`).join(',')}}`;
const volumes = (count: number) =>
  `,"volumes":[${Array.from({ length: count }, (_, i) => `{"name":"v${i}","configMap":{"name":"c${i}"}}`).join(',')}]`;
const bigPod = (name: string) => ({
  method: 'POST',
  path: pods,
  contentType: 'application/json',
  body: () => pod(name, volumes(8_000)),
});

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

const field = (number: number, content: Buffer) =>
  Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);

function envelope(kind: string, message: Buffer): Buffer {
  const meta = Buffer.concat([field(1, Buffer.from('v1')), field(2, Buffer.from(kind))]);
  return Buffer.concat([Buffer.from('k8s\0'), field(1, meta), field(2, message)]);
}

const repeated = (part: Buffer) => Buffer.alloc(Math.floor((most - 1000) / part.length) * part.length, part);
const named = (name: string) => field(1, field(1, Buffer.from(name)));

/** Patches of all kinds. */
export const patchCases: readonly HostileCase[] = [
  on(
    'JSON patch, 10,000 adds in front',
    'PATCH',
    jsonPatch,
    `${configMaps}/front`,
    () =>
      `[{"op":"add","path":"/metadata/finalizers","value":[]},${Array.from({ length: 9_999 }, (_, i) => `{"op":"add","path":"/metadata/finalizers/0","value":"a.b/${i}"}`).join(',')}]`,
    target('front'),
  ),
  on(
    'JSON patch, adds in front of a long list',
    'PATCH',
    jsonPatch,
    `${configMaps}/long-list`,
    () =>
      `[{"op":"add","path":"/metadata/finalizers","value":[${many((i) => `"a.b/${i}"`, 2_000_000)}]},${Array.from({ length: 9_999 }, () => `{"op":"add","path":"/metadata/finalizers/0","value":"a.b/c"}`).join(',')}]`,
    target('long-list'),
  ),
  on(
    'JSON patch, copies that double',
    'PATCH',
    jsonPatch,
    `${configMaps}/copies`,
    () =>
      `[{"op":"add","path":"/x","value":["a"]},${Array.from({ length: 9_000 }, () => '{"op":"copy","from":"/x","path":"/x/-"}').join(',')}]`,
    target('copies'),
  ),
  on(
    'JSON patch, copies of something large',
    'PATCH',
    jsonPatch,
    `${configMaps}/copy-large`,
    () =>
      `[{"op":"add","path":"/x","value":{${many((i) => `"k${i}":[]`, 2_000_000)}}},${Array.from({ length: 9_000 }, (_, i) => `{"op":"copy","from":"/x/k${i}","path":"/x/c${i}"}`).join(',')}]`,
    target('copy-large'),
  ),
  on(
    'JSON patch, tests of large values',
    'PATCH',
    jsonPatch,
    `${configMaps}/tests`,
    () =>
      `[{"op":"add","path":"/data","value":{${many((i) => `"k${i}":"v"`, 1_000_000)}}},${Array.from({ length: 1_000 }, () => '{"op":"test","path":"/data","value":{}}').join(',')}]`,
    target('tests'),
  ),
  on(
    'JSON patch, moves of the whole',
    'PATCH',
    jsonPatch,
    `${configMaps}/moves`,
    () =>
      `[${Array.from({ length: 5_000 }, (_, i) => `{"op":"move","from":"/${i % 2 === 0 ? 'data' : 'x'}","path":"/${i % 2 === 0 ? 'x' : 'data'}"}`).join(',')}]`,
    target('moves', bigData(20_000)),
  ),
  on(
    'JSON patch, tests against a large object',
    'PATCH',
    jsonPatch,
    `${configMaps}/equal`,
    () => `[${many(() => '{"op":"test","path":"","value":{}}', 400_000)}]`,
    target('equal', bigData(40_000)),
  ),
  on(
    'JSON patch, long paths',
    'PATCH',
    jsonPatch,
    `${configMaps}/paths`,
    () => `[{"op":"add","path":"${'/a'.repeat(most / 2 - 200)}","value":1}]`,
    target('paths'),
  ),
  on(
    'JSON patch, deep value',
    'PATCH',
    jsonPatch,
    `${configMaps}/deep-value`,
    () => `[{"op":"add","path":"/data/a","value":${'['.repeat(1_400_000)}${']'.repeat(1_400_000)}}]`,
    target('deep-value'),
  ),
  on(
    'merge patch, many keys',
    'PATCH',
    mergePatch,
    `${configMaps}/merge`,
    () => `{"data":{${many((i) => `"k${i}":""`)}}}`,
    target('merge'),
  ),
  on(
    'merge patch, nulls',
    'PATCH',
    mergePatch,
    `${configMaps}/nulls`,
    () => `{"data":{${many((i) => `"k${i}":null`)}}}`,
    target('nulls', bigData(40_000)),
  ),
  on(
    'merge patch, small, on a large object',
    'PATCH',
    mergePatch,
    `${configMaps}/large`,
    () => '{"data":{"a":"b"}}',
    target('large', bigData(60_000)),
  ),
  on(
    'merge patch, deep',
    'PATCH',
    mergePatch,
    `${configMaps}/deep`,
    () => `${'{"a":'.repeat(480_000)}1${'}'.repeat(480_000)}`,
    target('deep'),
  ),
  on(
    'strategic patch, keyed list',
    'PATCH',
    strategic,
    `${pods}/strategic`,
    () => `{"spec":{${volumes(60_000).slice(1)}}}`,
    bigPod('strategic'),
  ),
  on(
    'strategic patch, deletes',
    'PATCH',
    strategic,
    `${pods}/deletes`,
    () => `{"spec":{"volumes":[${many((i) => `{"$patch":"delete","name":"v${i}"}`)}]}}`,
    bigPod('deletes'),
  ),
  on(
    'strategic patch, order',
    'PATCH',
    strategic,
    `${pods}/order`,
    () =>
      `{"spec":{"$setElementOrder/volumes":[${many((i) => `{"name":"v${60_000 - i}"}`, 1_400_000)}],"volumes":[${many((i) => `{"name":"v${i}"}`, 1_400_000)}]}}`,
    bigPod('order'),
  ),
  on(
    'strategic patch, primitive list',
    'PATCH',
    strategic,
    `${configMaps}/primitive`,
    () =>
      `{"metadata":{"finalizers":[${many((i) => `"a.b/${i}"`, 1_400_000)}],"$deleteFromPrimitiveList/finalizers":[${many((i) => `"a.b/${i}"`, 1_400_000)}]}}`,
    target('primitive'),
  ),
  on(
    'strategic patch, retained keys',
    'PATCH',
    strategic,
    `${pods}/retained`,
    () => `{"spec":{"volumes":[{"name":"v1","$retainKeys":[${many((i) => `"k${i}"`)}]}]}}`,
    bigPod('retained'),
  ),
  on(
    'apply, 60,000 conflicts',
    'PATCH',
    apply,
    `${configMaps}/conflicts?fieldManager=second`,
    () =>
      `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"conflicts"},"data":{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":"w"`).join(',')}}}`,
    target('conflicts', bigData(60_000)),
  ),
  on(
    'apply, many keys',
    'PATCH',
    apply,
    `${configMaps}/applied?fieldManager=m`,
    () => `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"applied"},"data":{${many((i) => `"k${i}":""`)}}}`,
  ),
  on('apply, keyed list', 'PATCH', apply, `${services}/applied?fieldManager=m`, () =>
    service('applied', `"ports":[${many((i) => `{"port":${i + 1},"name":"p${i}","protocol":"TCP"}`)}]`),
  ),
  on('apply, duplicates in a keyed list', 'PATCH', apply, `${services}/twice?fieldManager=m`, () =>
    service('twice', `"ports":[${many(() => '{"port":1}')}]`),
  ),
  on(
    'apply, unknown fields',
    'PATCH',
    apply,
    `${configMaps}/undeclared?fieldManager=m`,
    () => `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"undeclared"},${many((i) => `"x${i}":1`)}}`,
  ),
  on(
    'apply as YAML',
    'PATCH',
    apply,
    `${configMaps}/applied-yaml?fieldManager=m`,
    () =>
      `kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: applied-yaml\ndata:\n${Array.from({ length: 100_000 }, (_, i) => `  k${i}: a\n`).join('')}`,
  ),
];

/** YAML and protobuf. */
export const formatCases: readonly HostileCase[] = [
  on(
    'YAML, many keys',
    'POST',
    yaml,
    configMaps,
    () => `metadata:\n  name: y\ndata:\n${Array.from({ length: 150_000 }, (_, i) => `  k${i}: a\n`).join('')}`,
  ),
  on(
    'YAML, aliases',
    'POST',
    yaml,
    configMaps,
    () =>
      `a0: &a0 [x]\n${Array.from({ length: 500 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i},*a${i},*a${i},*a${i}]\n`).join('')}`,
  ),
  on('YAML, anchors', 'POST', yaml, configMaps, () =>
    Array.from({ length: 150_000 }, (_, i) => `k${i}: &a${i} 1\n`).join(''),
  ),
  on(
    'YAML, merge keys',
    'POST',
    yaml,
    configMaps,
    () => `a: &a {b: 1}\n${Array.from({ length: 100_000 }, (_, i) => `k${i}: {<<: *a}\n`).join('')}`,
  ),
  on('YAML, flow nesting', 'POST', yaml, configMaps, () => `a: ${'['.repeat(1_400_000)}`),
  on('YAML, block nesting', 'POST', yaml, configMaps, () =>
    Array.from({ length: 2_000 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
  ),
  on(
    'YAML, long scalar',
    'POST',
    yaml,
    configMaps,
    () => `metadata: {name: l}\ndata:\n  a: |\n${'    text\n'.repeat(300_000)}`,
  ),
  on('YAML, quoted folds', 'POST', yaml, configMaps, () => `a: "${'x\n\n  '.repeat(500_000)}"`),
  on('YAML, many documents', 'POST', yaml, configMaps, () => '---\na: 1\n'.repeat(300_000)),
  on('YAML, comments', 'POST', yaml, configMaps, () => '# a comment\n'.repeat(240_000)),
  on('YAML, tabs and dashes', 'POST', yaml, configMaps, () => '- '.repeat(1_400_000)),
  on('protobuf, repeated messages', 'POST', protobuf, pods, () =>
    envelope('Pod', Buffer.concat([named('repeated'), repeated(field(2, field(1, Buffer.alloc(0))))])),
  ),
  on('protobuf, empty map entries', 'POST', protobuf, configMaps, () =>
    envelope('ConfigMap', Buffer.concat([named('entries'), repeated(field(2, Buffer.alloc(0)))])),
  ),
  on('protobuf, merged messages', 'POST', protobuf, configMaps, () =>
    envelope('ConfigMap', Buffer.concat([named('merged'), repeated(field(1, Buffer.alloc(0)))])),
  ),
  on('protobuf, unknown fields', 'POST', protobuf, configMaps, () =>
    envelope('ConfigMap', Buffer.concat([named('unknown'), repeated(Buffer.from([0x78, 0x01]))])),
  ),
  on('protobuf, nested groups', 'POST', protobuf, configMaps, () =>
    envelope('ConfigMap', Buffer.concat([named('groups'), Buffer.alloc(most - 1000, 0x7b)])),
  ),
  on('protobuf, labels', 'POST', protobuf, configMaps, () =>
    envelope(
      'ConfigMap',
      field(
        1,
        Buffer.concat([
          field(1, Buffer.from('labels')),
          ...Array.from({ length: 200_000 }, (_, i) =>
            field(11, Buffer.concat([field(1, Buffer.from(`k${i}`)), field(2, Buffer.from('v'))])),
          ),
        ]),
      ),
    ),
  ),
];
