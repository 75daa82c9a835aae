import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentSubresourcesOf } from './agent-authorization.js';

describe('rights of paths', () => {
  it('are those of the parts of a node, and of proxy for all else', () => {
    assert.deepEqual(agentSubresourcesOf('/metrics/resource'), ['metrics']);
    assert.deepEqual(agentSubresourcesOf('/stats/summary'), ['stats']);
    assert.deepEqual(agentSubresourcesOf('/pods'), ['pods', 'proxy']);
    for (const path of ['/exec/a/b/c', '/containerLogs/a/b/c', '/podsx', '/metricsx', '/'])
      assert.deepEqual(agentSubresourcesOf(path), ['proxy'], path);
  });
});
