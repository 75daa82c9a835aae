import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributesOfRequest } from '../../../test/support/request-attributes.js';
import { vendorNames } from '../../machinery/vendor.js';
import { NodeAuthorizer } from './node.authorizer.js';
import { NodeGraph } from './node-graph.js';
import { nodeRules } from './node-mode.js';
import { referenceKey } from './pod-references.js';

const names = vendorNames('k8s.io');
const agent = { name: 'system:node:n', uid: '', groups: ['system:nodes', 'system:authenticated'], extra: {} };
const path = '/api/v1/namespaces/ns/secrets/s';

function setUp(state: { lostForMs?: number; catchUp?: () => Promise<void> } = {}) {
  const graph = new NodeGraph();
  const authorizer = new NodeAuthorizer({
    graph,
    state: { lostForMs: 0, catchUp: async () => undefined, ...state },
    commonRules: nodeRules(names),
    names,
    maxLostMs: 100,
  });
  const ask = async (request: string) => (await authorizer.authorize(attributesOfRequest(agent, request))).decision;
  return { graph, authorizer, ask };
}

const needed = { node: 'n', keys: [referenceKey('secret', 'ns', 's')] };

describe('the node authorizer', () => {
  it('reads the log to its end before it denies', async () => {
    let reads = 0;
    const parts = setUp({
      catchUp: async () => {
        reads++;
        parts.graph.setPod('ns/p', needed);
      },
    });
    assert.equal(await parts.ask(`GET ${path}`), 'allow');
    assert.equal(await parts.ask(`GET ${path}`), 'allow');
    assert.equal(reads, 1);
    assert.equal(await parts.ask('GET /api/v1/namespaces/ns/secrets/other'), 'noOpinion');
    assert.equal(reads, 2);
    // Requests that no pod could allow cost nothing.
    assert.equal(await parts.ask('GET /api/v1/namespaces/ns/secrets'), 'noOpinion');
    assert.equal(await parts.ask('GET /api/v1/secrets'), 'noOpinion');
    assert.equal(reads, 2);
  });

  it('continues as soon as the pod is seen', async () => {
    const parts = setUp({ catchUp: () => new Promise<void>(() => undefined) });
    const asked = parts.ask(`GET ${path}`);
    parts.graph.setPod('ns/other', { node: 'n', keys: [] });
    parts.graph.setPod('ns/p', needed);
    assert.equal(await asked, 'allow');
  });

  it('does not decide by an outdated graph', async () => {
    const parts = setUp({ lostForMs: 101 });
    parts.graph.setPod('ns/p', needed);
    await assert.rejects(
      async () => parts.ask(`GET ${path}`),
      (error: { code?: number }) => error.code === 503,
    );
    assert.equal(await parts.ask('GET /api/v1/nodes'), 'allow');
  });

  it('has its own rules for objects that nodes own', async () => {
    const { ask } = setUp();
    const csi = '/apis/storage.k8s.io/v1/csinodes';
    const leases = '/apis/coordination.k8s.io/v1/namespaces/control-node-lease/leases';
    const cases: readonly (readonly [string, boolean])[] = [
      [`GET ${csi}/n`, true],
      [`PATCH ${csi}/n`, true],
      [`DELETE ${csi}/other`, false],
      [`POST ${csi}`, true],
      [`GET ${csi}`, false],
      [`DELETE ${csi}`, false],
      [`GET ${csi}/n/status`, false],
      [`PUT ${leases}/n`, true],
      [`PUT ${leases}/other`, false],
      [`PUT ${leases.replace('control-node-lease', 'ns')}/n`, false],
      [`GET ${leases}?fieldSelector=metadata.name%3Dn`, false],
      ['GET /apis/example.com/v1/namespaces/ns/secrets/s', false],
      ['GET /apis/other/v1/csinodes/n', false],
      ['PATCH /api/v1/nodes/other/status', true],
      ['DELETE /api/v1/nodes/n', false],
      ['GET /healthz', false],
      ['PUT /api/v1/namespaces/ns/persistentvolumeclaims/c/status', false],
    ];
    for (const [request, allowed] of cases) assert.equal((await ask(request)) === 'allow', allowed, request);
  });

  it('has no opinion on other users', () => {
    const { authorizer } = setUp();
    const pods = 'GET /api/v1/pods';
    for (const user of [
      { ...agent, groups: ['system:authenticated'] },
      { ...agent, name: 'n' },
      { ...agent, name: 'system:nodes:n' },
    ]) {
      assert.deepEqual(authorizer.authorize(attributesOfRequest(user, pods)), { decision: 'noOpinion', reason: '' });
      assert.equal(authorizer.rulesFor(user).incomplete, false);
    }
    assert.equal(authorizer.rulesFor(agent).incomplete, true);
  });
});
