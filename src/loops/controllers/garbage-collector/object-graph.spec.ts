import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type GraphNode, nodeOf, ObjectGraph } from './object-graph.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const maps = { storageResource: 'configmaps', apiVersion: 'v1', group: '', kind: 'ConfigMap', namespaced: true };
const refTo = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid });
const absent = (count: number, prefix = 'absent') => Array.from({ length: count }, (_, i) => refTo(`${prefix}-${i}`));

function node(uid: string, owners: ReturnType<typeof refTo>[] = [], namespace = 'n'): GraphNode {
  return nodeOf(maps, { metadata: { name: uid, namespace, uid, ownerReferences: owners } }, '1');
}

describe('ObjectGraph', () => {
  let graph: ObjectGraph;
  let touched: string[];
  beforeEach(() => {
    touched = [];
    graph = new ObjectGraph((uid) => touched.push(uid));
  });
  const dependents = (uid: string) => [...graph.dependentsOf(graph.get(uid) as GraphNode)].map((one) => one.uid).sort();

  it('finds an object among very many owners of a dependent', () => {
    graph.set(node('owner'));
    graph.set(node('other'));
    graph.set(node('crowded', [...absent(2_000), refTo('owner')]));
    graph.set(node('plain', [refTo('owner')]));
    graph.set(node('elsewhere', [...absent(2_000), refTo('owner')], 'm'));
    assert.deepEqual(dependents('owner'), ['crowded', 'plain']);
    assert.deepEqual(dependents('other'), []);
    assert.equal(graph.get('crowded')?.owners.length, 2_001);
    assert.deepEqual(graph.get('crowded')?.owners.at(-1), refTo('owner'));
    touched = [];
    graph.remove('owner');
    assert.deepEqual(touched.sort(), ['crowded', 'plain']);
    assert.equal(graph.hasDependents('other'), false);
  });

  it('follows an object whose owners become many and few again', () => {
    graph.set(node('owner'));
    graph.set(node('object', [refTo('owner')]));
    graph.set(node('object', [...absent(100), refTo('owner')]));
    assert.deepEqual(dependents('owner'), ['object']);
    graph.set(node('object', absent(100)));
    assert.deepEqual(dependents('owner'), []);
    graph.set(node('object', [refTo('owner')]));
    assert.deepEqual(dependents('owner'), ['object']);
    graph.set(node('object', [...absent(100), refTo('owner')]));
    graph.drop('object');
    assert.deepEqual(dependents('owner'), []);
  });

  it('takes little memory for very many absent owners', () => {
    const count = 100;
    collect();
    const before = process.memoryUsage();
    for (let i = 0; i < count; i++) graph.set(node(`object-${i}`, absent(2_000, `absent-${i}`)));
    collect();
    const after = process.memoryUsage();
    const taken = after.heapUsed + after.external - before.heapUsed - before.external;
    assert.ok(taken / count < 200_000, `${taken / count} bytes for each object`);
    assert.equal(graph.size, count);
  });
});
