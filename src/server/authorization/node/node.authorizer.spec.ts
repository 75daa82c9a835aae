import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributesOfRequest } from '../../../../test/support/request-attributes.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
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
    // Requests that no pod could allow don't read the store.
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
    assert.equal(await parts.ask('GET /api/v1/nodes/n'), 'allow');
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

  it('lets a node read the claims of its pods, and keep the slices of its own devices', async () => {
    const { graph, ask } = setUp();
    const [claims, slices] = [
      '/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims',
      '/apis/resource.k8s.io/v1/resourceslices',
    ];
    graph.setPod('ns/p', { node: 'n', keys: [referenceKey('device', 'ns', 'mine')] });
    graph.slices.set('own', 'n');
    graph.slices.set('other', 'm');
    graph.slices.set('shared', '');
    const cases: readonly (readonly [string, boolean])[] = [
      [`GET ${claims}/mine`, true],
      [`GET ${claims}/other`, false],
      [`GET ${claims}`, false],
      [`PUT ${claims}/mine/status`, false],
      [`POST ${slices}`, true],
      [`GET ${slices}/own`, true],
      [`PATCH ${slices}/own`, true],
      [`DELETE ${slices}/other`, false],
      [`PUT ${slices}/shared`, false],
      [`GET ${slices}`, false],
      [`DELETE ${slices}`, false],
      [`GET ${slices}?fieldSelector=spec.nodeName%3Dn`, true],
      [`DELETE ${slices}?fieldSelector=spec.nodeName%3Dn`, true],
      [`DELETE ${slices}?fieldSelector=spec.nodeName%3Dm`, false],
      [`GET ${slices}?watch=1&fieldSelector=spec.driver%3Dn`, false],
    ];
    for (const [request, allowed] of cases) assert.equal((await ask(request)) === 'allow', allowed, request);
  });

  it('lets a node ask for certificates of its pods, and read no other requests', async () => {
    const { graph, ask } = setUp();
    const requests = '/apis/certificates.k8s.io/v1/namespaces/ns/podcertificaterequests';
    graph.certificateRequests.set('ns/own', 'n');
    graph.certificateRequests.set('ns/other', 'm');
    graph.certificateRequests.set('else/own', 'm');
    const cases: readonly (readonly [string, boolean])[] = [
      [`POST ${requests}`, true],
      [`GET ${requests}/own`, true],
      [`GET ${requests}/other`, false],
      [`GET ${requests.replace('/ns/', '/else/')}/own`, false],
      [`GET ${requests}`, false],
      [`GET ${requests}?watch=1`, false],
      [`GET ${requests}?fieldSelector=metadata.name%3Down`, false],
      [`GET ${requests}?fieldSelector=spec.nodeName%3Dn`, true],
      [`GET ${requests}?watch=1&fieldSelector=spec.nodeName%3Dn`, true],
      [`GET ${requests}?fieldSelector=spec.nodeName%3Dm`, false],
      ['GET /apis/certificates.k8s.io/v1/podcertificaterequests?watch=1&fieldSelector=spec.nodeName%3Dn', true],
      [`GET ${requests}/own/status`, false],
      [`PUT ${requests}/own/status`, false],
      [`PUT ${requests}/own`, false],
      [`PATCH ${requests}/own`, false],
      [`DELETE ${requests}/own`, false],
    ];
    for (const [request, allowed] of cases) assert.equal((await ask(request)) === 'allow', allowed, request);
  });

  it('lets a node read its own pods and its own node, by selector or by name', async () => {
    const { graph, authorizer, ask } = setUp();
    const pods = '/api/v1/namespaces/ns/pods';
    graph.setPod('ns/mine', { node: 'n', keys: [referenceKey('account', 'ns', 'robot')] });
    graph.setPod('ns/other', { node: 'm', keys: [] });
    const selected = (selector: string) => `fieldSelector=${encodeURIComponent(selector)}`;
    const cases: readonly (readonly [string, boolean])[] = [
      ['GET /api/v1/pods', false],
      [`GET /api/v1/pods?${selected('spec.nodeName=n')}`, true],
      [`GET /api/v1/pods?watch=1&${selected('spec.nodeName==n,status.phase!=Failed')}`, true],
      [`GET ${pods}?${selected('spec.nodeName=n')}`, true],
      [`GET ${pods}?${selected('spec.nodeName=m')}`, false],
      [`GET ${pods}?${selected('spec.nodeName!=n')}`, false],
      [`GET ${pods}?${selected('spec.nodeName!=m')}`, false],
      [`GET ${pods}?${selected('spec.nodeName=')}`, false],
      [`GET ${pods}?${selected('spec.nodeName=n,,=a=')}`, false],
      [`GET ${pods}?${selected('spec.nodeName=m')}&${selected('spec.nodeName=n')}`, false],
      [`GET ${pods}?labelSelector=spec.nodeName%3Dn`, false],
      [`GET ${pods}?${selected('metadata.name=mine')}`, true],
      [`GET ${pods}?${selected('metadata.name=other')}`, false],
      [`GET /api/v1/watch/pods?watch=1&${selected('spec.nodeName=n')}`, false],
      [`DELETE ${pods}?${selected('spec.nodeName=n')}`, false],
      [`GET ${pods}/mine`, true],
      [`GET ${pods}/other`, false],
      [`GET ${pods}/gone`, false],
      [`GET ${pods}/mine/log`, false],
      [`PUT ${pods}/mine`, false],
      [`PATCH ${pods}/mine/status`, true],
      [`POST ${pods}/mine/eviction`, true],
      [`POST ${pods}/mine/binding`, false],
      [`POST ${pods}/mine/__proto__`, false],
      [`DELETE ${pods}/mine`, true],
      [`POST ${pods}`, true],
      ['GET /api/v1/nodes', false],
      ['GET /api/v1/nodes/n', true],
      ['GET /api/v1/nodes/m', false],
      ['GET /api/v1/nodes/n/status', false],
      [`GET /api/v1/nodes?${selected('metadata.name=n')}`, true],
      [`GET /api/v1/nodes?watch=1&${selected('metadata.name=n')}`, true],
      [`GET /api/v1/nodes?${selected('metadata.name=m')}`, false],
      [`GET /api/v1/nodes?${selected('metadata.name!=m')}`, false],
      ['POST /api/v1/nodes', true],
      ['PATCH /api/v1/nodes/n', true],
      ['GET /api/v1/services', true],
      ['GET /api/v1/namespaces/ns/serviceaccounts/robot', true],
      ['GET /api/v1/namespaces/ns/serviceaccounts/other', false],
      ['GET /api/v1/namespaces/ns/serviceaccounts', false],
      ['DELETE /api/v1/namespaces/ns/serviceaccounts/robot', false],
    ];
    for (const [request, allowed] of cases) assert.equal((await ask(request)) === 'allow', allowed, request);
    const { reason } = await authorizer.authorize(attributesOfRequest(agent, 'GET /api/v1/nodes/m'));
    assert.equal(reason, "node 'n' cannot read 'm', only its own Node object");
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
