import assert from 'node:assert/strict';
import { it } from 'node:test';
import { watchCacheSizes, watchCacheSizesProblem } from './watch-cache-sizes.js';

it('reads sizes by resource and gives the default for the rest', () => {
  const pairs = ['pods#7', 'deployments.apps#0'];
  assert.equal(watchCacheSizesProblem(pairs), undefined);
  const sizes = watchCacheSizes(100, pairs);
  assert.deepEqual(['pods', 'deployments.apps', 'deployments', 'nodes'].map(sizes.of), [7, 0, 100, 100]);
});

it('refuses other forms', () => {
  for (const pair of ['pods', '#1', 'pods#', 'pods#-1', 'Pods#1', 'pods#1.5', 'a/b#1', 'pods#1#2', 'deployments.#1']) {
    assert.match(watchCacheSizesProblem([pair]) ?? '', /is not resource\[\.group\]#size/, pair);
  }
  assert.match(watchCacheSizesProblem(['pods#1000001']) ?? '', /above 1000000/);
  assert.match(watchCacheSizesProblem(['pods#1', 'pods#2']) ?? '', /pods twice/);
});
