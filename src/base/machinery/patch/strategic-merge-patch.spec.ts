import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleDeployment } from '../field-set/testing/sample-kinds.js';
import { applyStrategicMergePatch, PatchError } from './index.js';

const live = {
  metadata: { name: 'd', finalizers: ['a', 'b', 'c'], labels: { app: 'd' } },
  spec: {
    replicas: 1,
    template: {
      spec: {
        volumes: [{ name: 'v', emptyDir: {} }],
        containers: [
          { name: 'a', image: 'i:1', env: [{ name: 'E', value: '1' }], args: ['x', 'y'] },
          { name: 'b', image: 'i:1', ports: [{ containerPort: 80, protocol: 'TCP' }] },
          { name: 'c', image: 'i:1' },
        ],
      },
    },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
    replaced: { a: '1' },
  },
};
const before = structuredClone(live);

type Live = typeof live;
type Container = Record<string, unknown> & { name: string };

function patched(patch: Record<string, unknown>): Live {
  const result = applyStrategicMergePatch(sampleDeployment, live, patch) as Live;
  assert.deepEqual(live, before);
  return result;
}

const podPatch = (spec: Record<string, unknown>) => ({ spec: { template: { spec } } });
const containersOf = (object: Live) => object.spec.template.spec.containers as Container[];
const namesOf = (object: Live) => containersOf(object).map((c) => c.name);

function refused(patch: Record<string, unknown>): PatchError {
  try {
    applyStrategicMergePatch(sampleDeployment, live, patch);
  } catch (error) {
    assert.ok(error instanceof PatchError, String(error));
    assert.ok(error.code === 400 || (error.code === 500 && error.reason === ''), error.message);
    return error;
  }
  assert.fail('the patch was applied');
}

test('lists merge by their key, other lists are replaced', () => {
  const result = patched(podPatch({ containers: [{ name: 'a', image: 'i:2', args: ['z'] }] }));
  assert.deepEqual(containersOf(result), [
    { name: 'a', image: 'i:2', env: [{ name: 'E', value: '1' }], args: ['z'] },
    ...live.spec.template.spec.containers.slice(1),
  ]);
  assert.equal(result.metadata, live.metadata);
});

test('null removes, absent fields are added without nulls and directives', () => {
  const result = patched({
    spec: { replicas: null, none: null, paused: true },
    status: { a: null, b: 1, c: { $patch: 'delete' }, d: { $retainKeys: ['e'], e: 1 }, f: [{ $patch: 'x' }, 2] },
  });
  assert.equal('replicas' in result.spec, false);
  assert.equal('none' in result.spec, false);
  assert.deepEqual((result as unknown as { status: unknown }).status, {
    b: 1,
    d: { $retainKeys: ['e'], e: 1 },
    f: [2],
  });
});

test('items new to the list come as early as the live order allows', () => {
  assert.deepEqual(namesOf(patched(podPatch({ containers: [{ name: 'z' }] }))), ['z', 'a', 'b', 'c']);
  assert.deepEqual(namesOf(patched(podPatch({ containers: [{ name: 'c' }] }))), ['a', 'b', 'c']);
  assert.deepEqual(namesOf(patched(podPatch({ containers: [{ name: 'z' }, { name: 'b' }] }))), ['z', 'a', 'b', 'c']);
});

test('$patch: delete of an item', () => {
  assert.deepEqual(namesOf(patched(podPatch({ containers: [{ name: 'c', $patch: 'delete' }] }))), ['a', 'b']);
  assert.deepEqual(patched(podPatch({ containers: [{ name: 'none', $patch: 'delete' }] })), live);
});

test('$patch: replace of a list', () => {
  const result = patched(podPatch({ containers: [{ $patch: 'replace' }, { name: 'z', image: 'z:1' }] }));
  assert.deepEqual(containersOf(result), [{ name: 'z', image: 'z:1' }]);
});

test('$patch on objects', () => {
  assert.deepEqual(patched({ spec: { strategy: { $patch: 'delete' } } }).spec.strategy, {});
  const replaced = patched({ spec: { strategy: { $patch: 'replace', type: 'Recreate' } } });
  assert.deepEqual(replaced.spec.strategy, { type: 'Recreate' });
  const absent = patched(podPatch({ affinity: { $patch: 'delete' }, other: { $patch: 'replace', a: 1 } }));
  assert.deepEqual(absent.spec.template, live.spec.template);
  assert.deepEqual(patched({ spec: { replaced: { b: '2' } } }).spec.replaced, { b: '2' });
});

test('directives in what is replaced as a whole are left to the decoder', () => {
  const args = [{ $patch: 'delete' }];
  const result = patched(
    podPatch({
      containers: [
        { name: 'a', args },
        { name: 'b', args },
      ],
    }),
  );
  assert.deepEqual(
    containersOf(result).map((container) => container.args),
    // One container had a list before; the other one gets a new list, without directives.
    [args, [], undefined],
  );
  const { replaced } = patched({ spec: { replaced: { $patch: 'delete' } } }).spec;
  assert.deepEqual(replaced, { $patch: 'delete' });
});

test('$retainKeys drops what it does not list', () => {
  const volumes = [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'p' } }];
  assert.deepEqual(patched(podPatch({ volumes })).spec.template.spec.volumes, [
    { name: 'v', configMap: { name: 'p' } },
  ]);
  const strategy = { $retainKeys: ['type'], type: 'Recreate' };
  assert.deepEqual(patched({ spec: { strategy } }).spec.strategy, { type: 'Recreate' });
  refused({ spec: { strategy: { $retainKeys: [], type: 'Recreate' } } });
});

test('$setElementOrder orders the merged list', () => {
  const order = ['b', 'a'].map((name) => ({ name }));
  const result = patched(podPatch({ '$setElementOrder/containers': order, containers: [{ name: 'a', image: 'i:4' }] }));
  assert.deepEqual(namesOf(result), ['b', 'a', 'c']);
  assert.equal(containersOf(result)[1]?.image, 'i:4');
  assert.deepEqual(namesOf(patched(podPatch({ '$setElementOrder/containers': order }))), ['b', 'a', 'c']);
  const added = patched({ spec: { '$setElementOrder/other': ['y', 'x'], other: ['y', 'x'] } }).spec as {
    other?: unknown;
  };
  assert.deepEqual(added.other, ['y', 'x']);
  const items = [{ name: 'a' }, { name: 'b' }];
  const error = refused(podPatch({ '$setElementOrder/containers': order, containers: items }));
  assert.match(
    error.message,
    /^The order in patch list:\n\[map\[name:a\] map\[name:b\]\]\n doesn't match \$setElementOrder/,
  );
  refused(podPatch({ '$setElementOrder/containers': [{}] }));
});

test('lists of scalars merge as sets', () => {
  assert.deepEqual(patched({ metadata: { finalizers: ['z'] } }).metadata.finalizers, ['z', 'a', 'b', 'c']);
  assert.deepEqual(patched({ metadata: { finalizers: ['b'] } }).metadata.finalizers, ['a', 'b', 'c']);
  const deleted = patched({ metadata: { '$deleteFromPrimitiveList/finalizers': ['b', 'none'] } });
  assert.deepEqual(deleted.metadata.finalizers, ['a', 'c']);
  const ordered = patched({ metadata: { '$setElementOrder/finalizers': ['c', 'z', 'a'], finalizers: ['z'] } });
  assert.deepEqual(ordered.metadata.finalizers, ['b', 'c', 'z', 'a']);
});

test('items without merge key and unknown directives are refused', () => {
  assert.equal(
    refused(podPatch({ containers: [{ image: 'i:2' }] })).message,
    'map: map[image:i:2] does not contain declared merge key: name',
  );
  assert.match(refused({ spec: { $patch: 'frob' } }).message, /^unknown patch type: frob in map:/);
  assert.match(refused({ spec: { $patch: 'merge' } }).message, /^unknown patch type: merge in map:/);
  refused(podPatch({ containers: [{ name: 'a', $patch: 'frob' }] }));
  assert.equal(
    refused({ metadata: { finalizers: [{ name: 'a' }] } }).message,
    'list element types are not identical: [[a b c] [map[name:a]]]',
  );
  refused(podPatch({ containers: ['a'] }));
  refused({ metadata: { '$deleteFromPrimitiveList/finalizers': 'b' } });
});

test('__proto__ is only a key', () => {
  const patch = JSON.parse('{"__proto__": {"polluted": true}, "metadata": {"labels": {"__proto__": "x"}}}');
  const result = patched(patch);
  assert.equal((result as { polluted?: boolean }).polluted, undefined);
  assert.deepEqual(Object.keys(result.metadata.labels), ['app', '__proto__']);
});
