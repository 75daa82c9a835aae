import assert from 'node:assert/strict';
import { it } from 'node:test';
import { connect } from 'node:tls';
import { serverAuth, TestIdentity } from '../../support/test-authority.js';
import type { AgentNode } from './agent-node.js';
import { eventually } from './test-cluster.js';

/** Cases about the server of an agent: who may ask it, and its certificate. */
export function agentServerCases(node: () => AgentNode): void {
  /** A token as pods have it. */
  async function tokenOfPod(...audiences: readonly string[]): Promise<string> {
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const { status, body, text } = await node().admin.post(path, { spec: { audiences } });
    assert.equal(status, 201, text);
    return body.status.token;
  }

  it('answers only those on its port who have rights', async () => {
    const { ask, friend, nodeName, clients } = node();
    const stranger = await clients.issue({ subject: [{ CN: ['stranger'] }] });
    const other = await (await TestIdentity.root('others')).issue({
      subject: [{ O: ['system:masters'] }, { CN: ['friend'] }],
    });
    const yesterday = new Date(Date.now() - 86_400_000);
    const asFriend = (more: object) =>
      clients.issue({ subject: [{ O: ['system:masters'] }, { CN: ['friend'] }], ...more });
    const late = await asFriend({ notBefore: new Date(0), notAfter: yesterday });
    const ofServer = await asFriend({ usages: [serverAuth] });
    const ofPod = { authorization: `Bearer ${await tokenOfPod()}` };
    const elsewhere = { authorization: `Bearer ${await tokenOfPod('elsewhere')}` };
    for (const path of ['/pods', '/exec/default/whole/main?command=id&output=1', '/metrics/resource', '/unknown']) {
      assert.equal((await ask(path)).status, 401, path);
      assert.equal((await ask(path, other)).status, 401, path);
      assert.equal((await ask(path, late)).status, 401, path);
      assert.equal((await ask(path, ofServer)).status, 401, path);
      assert.equal((await ask(path, undefined, { authorization: 'Bearer x' })).status, 401, path);
      assert.equal((await ask(path, undefined, elsewhere)).status, 401, path);
      assert.equal((await ask(path, undefined, ofPod)).status, 403, path);
      assert.equal((await ask(path, stranger)).status, 403, path);
    }
    const listed = await ask('/pods', friend);
    assert.equal(listed.status, 200);
    assert.ok(
      JSON.parse(listed.body).items.some((pod: { metadata: { name: string } }) => pod.metadata.name === 'whole'),
    );
    assert.match(
      (await ask('/metrics/resource', friend)).body,
      /container_memory_working_set_bytes\{container="main",namespace="default",pod="whole"\} [1-9]/,
    );
    assert.match(
      (await ask('/metrics/cadvisor', friend)).body,
      /container_memory_working_set_bytes\{container="main",id="\w+",image="[^"]+",name="\w+",namespace="default",pod="whole"\} [1-9]/,
    );
    assert.match(
      (await ask('/metrics/probes', friend)).body,
      /prober_probe_total\{container="main",namespace="default",pod="whole",pod_uid="[^"]+",probe_type="Readiness",result="successful"\} [1-9]/,
    );
    const summary = JSON.parse((await ask('/stats/summary', friend)).body);
    assert.equal(summary.node.nodeName, nodeName);
    assert.equal((await ask('/unknown', friend)).status, 404);
  });

  it('gets the certificate of its server from the API, when somebody approves it, and asks once, however often it starts', async () => {
    const { admin, create, untilPod, nodeName, port, restartAgent, shell } = node();
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const pending = async () => {
      const { items } = (await admin.get(requests)).body;
      return items.filter(
        ({ spec, status }: { spec: { signerName: string }; status: { conditions?: object[] } }) =>
          spec.signerName === 'kubernetes.io/kubelet-serving' && status.conditions === undefined,
      );
    };
    const [request] = await eventually(async () => {
      const all = await pending();
      return all.length > 0 && all;
    }, 'the request for a certificate');
    await restartAgent();
    // The agent asks for the certificate of its server before it reports what runs.
    await create('after-restart', { containers: [{ name: 'main', ...shell('sleep 1000') }] });
    await untilPod('after-restart', 'the agent works again', (seen) => seen.phase === 'Running');
    const uids = (await pending()).map(({ metadata }: { metadata: { uid: string } }) => metadata.uid);
    assert.deepEqual(uids, [request.metadata.uid]);
    assert.equal(request.spec.username, `system:node:${nodeName}`);
    const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'a test' };
    const approval = await admin.put(`${requests}/${request.metadata.name}/approval`, {
      ...request,
      status: { conditions: [condition] },
    });
    assert.equal(approval.status, 200, approval.text);
    const shown = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
          const { subject, subjectaltname } = socket.getPeerCertificate();
          resolve(`${subject.CN} ${subjectaltname}`);
          socket.end();
        });
        socket.once('error', reject);
      });
    await eventually(
      async () => (await shown()) === `system:node:${nodeName} DNS:${nodeName}, IP Address:127.0.0.1`,
      'the new certificate',
    );
  });
}
