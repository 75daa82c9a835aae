import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, type KindType } from '../schema/index.js';
import { compareObjects, rootView, zeroObject } from './index.js';
import { sampleDeployment, sampleResource } from './testing/sample-kinds.js';

type Json = Record<string, unknown>;

function compare(type: KindType, before: Json | undefined, after: Json) {
  const canonical = (object: Json) => decode(type, object).value as Json;
  return compareObjects(rootView(type), before === undefined ? zeroObject(type) : canonical(before), canonical(after));
}

const container = {
  name: 'a',
  image: 'i',
  args: ['x'],
  ports: [
    { containerPort: 443, protocol: 'TCP' },
    { containerPort: 80, protocol: 'TCP' },
  ],
};
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'SampleDeployment',
  metadata: { name: 'd', uid: 'u', labels: { l: '1' }, finalizers: ['f'], ownerReferences: [{ name: 'n', uid: 'o' }] },
  spec: {
    replicas: 0,
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        containers: [container],
        volumes: [{ name: 'v', emptyDir: {} }],
        nodeSelector: { z: '1' },
        tolerations: [{ key: 'k' }],
      },
    },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    raw: { any: { thing: 1 } },
  },
};

test('a new object owns what differs from an empty one', () => {
  const { changed, removed } = compare(sampleDeployment, undefined, deployment);
  assert.deepEqual(removed, {});
  assert.deepEqual(changed, {
    'f:metadata': {
      'f:finalizers': { '.': {}, 'v:"f"': {} },
      'f:labels': { '.': {}, 'f:l': {} },
      'f:ownerReferences': { '.': {}, 'k:{"uid":"o"}': { '.': {}, 'f:name': {}, 'f:uid': {} } },
    },
    'f:spec': {
      'f:raw': {},
      'f:replicas': {},
      'f:selector': {},
      'f:strategy': { 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {} }, 'f:type': {} },
      'f:template': {
        'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
        'f:spec': {
          'f:containers': {
            'k:{"name":"a"}': {
              '.': {},
              'f:args': {},
              'f:image': {},
              'f:name': {},
              'f:ports': {
                '.': {},
                'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
                'k:{"containerPort":443,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
              },
              'f:resources': {},
            },
          },
          'f:nodeSelector': {},
          'f:tolerations': {},
          'f:volumes': { '.': {}, 'k:{"name":"v"}': { '.': {}, 'f:emptyDir': {}, 'f:name': {} } },
        },
      },
    },
  });
  const ports = changed['f:spec']?.['f:template']?.['f:spec']?.['f:containers']?.['k:{"name":"a"}']?.['f:ports'];
  assert.match(Object.keys(ports ?? {})[1] ?? '', /80/);
});

test('equal objects have no differences, whatever the order of keyed lists', () => {
  const reordered = structuredClone(deployment);
  reordered.spec.template.spec.containers[0]?.ports.reverse();
  for (const after of [deployment, reordered]) {
    assert.deepEqual(compare(sampleDeployment, deployment, after), { changed: {}, removed: {} });
  }
});

test('metadata of the server is not tracked, templates are', () => {
  const after = structuredClone(deployment) as typeof deployment & { metadata: Json };
  Object.assign(after.metadata, { uid: 'other', resourceVersion: '5', generation: 3, generateName: 'g-' });
  Object.assign(after.spec.template.metadata, { name: 'n' });
  assert.deepEqual(compare(sampleDeployment, deployment, after).changed, {
    'f:metadata': { 'f:generateName': {} },
    'f:spec': { 'f:template': { 'f:metadata': { 'f:name': {} } } },
  });
});

test('changed, new and removed fields and elements', () => {
  const after = structuredClone(deployment) as unknown as {
    metadata: Json;
    spec: Json & { template: { spec: { containers: Json[]; volumes?: Json[] } } };
  };
  after.metadata.finalizers = ['g'];
  after.spec.replicas = 2;
  after.spec.selector = { matchLabels: { a: 'c' } };
  after.spec.template.spec.containers = [{ ...container, image: 'j', args: undefined }, { name: 'b' }];
  after.spec.template.spec.volumes = undefined as unknown as Json[];
  const { changed, removed } = compare(sampleDeployment, deployment, after as unknown as Json);
  assert.deepEqual(changed, {
    'f:metadata': { 'f:finalizers': { 'v:"g"': {} } },
    'f:spec': {
      'f:replicas': {},
      'f:selector': {},
      'f:template': {
        'f:spec': {
          'f:containers': {
            'k:{"name":"a"}': { 'f:image': {} },
            'k:{"name":"b"}': { '.': {}, 'f:name': {}, 'f:resources': {} },
          },
        },
      },
    },
  });
  assert.deepEqual(removed, {
    'f:metadata': { 'f:finalizers': { 'v:"f"': {} } },
    'f:spec': {
      'f:template': {
        'f:spec': {
          'f:containers': { 'k:{"name":"a"}': { 'f:args': {} } },
          'f:volumes': { '.': {}, 'k:{"name":"v"}': { '.': {}, 'f:emptyDir': {}, 'f:name': {} } },
        },
      },
    },
  });
});

test('undeclared and free-form values are maps with atomic lists', () => {
  const before = { spec: { free: { a: { b: [1], c: 1 }, gone: { x: {} } }, nested: { k: { a: '1' } } } };
  const after = {
    spec: { free: { a: { b: [2], c: 1 }, n: { e: {} } }, nested: { k: { a: '1', b: '2' }, __proto__x: {} } },
  };
  const { changed, removed } = compare(sampleResource, before, after);
  assert.deepEqual(changed, {
    'f:spec': {
      'f:free': { 'f:a': { 'f:b': {} }, 'f:n': { '.': {}, 'f:e': {} } },
      'f:nested': { 'f:__proto__x': {}, 'f:k': { 'f:b': {} } },
    },
  });
  assert.deepEqual(removed, { 'f:spec': { 'f:free': { 'f:gone': { '.': {}, 'f:x': {} } } } });
  assert.deepEqual(compare(sampleResource, undefined, after).changed['f:spec']?.['.'], {});
});

test('names of Object.prototype are ordinary map keys', () => {
  const before = { metadata: { labels: { a: '1' } } };
  const after = { metadata: { labels: { a: '1', constructor: '2', toString: '3' } } };
  const expected = { 'f:metadata': { 'f:labels': { 'f:constructor': {}, 'f:toString': {} } } };
  assert.deepEqual(compare(sampleResource, before, after).changed, expected);
  assert.deepEqual(compare(sampleResource, after, before).removed, expected);
});

test('duplicate elements count as one value', () => {
  const env = (...values: string[]) => ({
    spec: { template: { spec: { containers: [{ name: 'a', env: values.map((value) => ({ name: 'E', value })) }] } } },
  });
  const containers = (result: { changed: Json }) => JSON.stringify(result.changed);
  assert.equal(containers(compare(sampleDeployment, env('1', '2'), env('1', '2'))), '{}');
  assert.match(containers(compare(sampleDeployment, env('1', '2'), env('3', '4'))), /"k:\{\\"name\\":\\"E\\"\}":\{\}/);
  assert.match(containers(compare(sampleDeployment, env('1'), env('1', '2'))), /"k:\{\\"name\\":\\"E\\"\}":\{\}/);
});
