import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { compactVerify } from 'jose';
import { parse } from 'yaml';
import { type Compatibility, vendorNames } from '../../src/base/machinery/vendor.js';
import { makeRequestWithKey, toBase64 } from '../support/certificate-requests.js';
import { mainFile } from '../support/main-file.js';
import { ApiClient, type Credentials } from './support/api-client.js';
import { eventually, TestCluster } from './support/test-cluster.js';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const roles = '/apis/rbac.authorization.k8s.io/v1';
const id = 'abcdef';
const token = `${id}.0123456789abcdef`;

const nodeClient = 'system:certificates.k8s.io:certificatesigningrequests:nodeclient';
const selfNodeClient = 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient';

for (const compat of ['', 'kubernetes'] as const satisfies readonly Compatibility[]) {
  const names = vendorNames('k8s.io', compat);
  const systemPath = `/api/v1/namespaces/${names.systemNamespace}`;

  describe(`a node that joins${compat === '' ? '' : `, with the names of ${compat}`}`, () => {
    let cluster: TestCluster;
    let admin: ApiClient;
    /** The configuration that the node got from the cluster with only its token. */
    let found: { readonly server: string; readonly ca: string };
    let own: { cert: string; key: string };

    before(async () => {
      const flags = ['--authorization-mode=Node,RBAC', ...(compat === '' ? [] : [`--compat=${compat}`])];
      cluster = await TestCluster.start({
        servers: 1,
        flags: [...flags, '--enable-bootstrap-token-auth', '--enable-admission-plugins=NodeRestriction'],
        controllers: true,
        controllerFlags: [...flags, '--controllers=*,bootstrapsigner,tokencleaner'],
      });
      admin = cluster.first.client;
      const args = ['cluster-info', `--server=${cluster.first.url}`];
      const more = [`--certificate-authority=${cluster.pki.authorityFile}`, `--compat=${compat}`];
      const env = { ...process.env, PLINTH_DATABASE_URL: cluster.databaseUrl };
      await promisify(execFile)(process.execPath, [mainFile, ...args, ...more], { env });
    });
    after(() => cluster?.stop());

    async function bind(role: string, group: string): Promise<void> {
      const rbac = { apiGroup: 'rbac.authorization.k8s.io' };
      const { status, text } = await admin.post(`${roles}/clusterrolebindings`, {
        metadata: { name: `${role}:${group}` },
        roleRef: { ...rbac, kind: 'ClusterRole', name: role },
        subjects: [{ ...rbac, kind: 'Group', name: group }],
      });
      assert.equal(status, 201, text);
    }

    async function withClient<T>(
      credentials: Omit<Credentials, 'ca'>,
      work: (client: ApiClient) => Promise<T>,
    ): Promise<T> {
      const client = new ApiClient(found.server, { ca: found.ca, ...credentials });
      try {
        return await work(client);
      } finally {
        client.close();
      }
    }

    /** Asks for a certificate for the node and waits for it. */
    async function certify(client: ApiClient, name: string, subject: string): Promise<{ cert: string; key: string }> {
      const { request, privateKey } = await makeRequestWithKey({ subject, key: 'ecdsa' });
      const spec = {
        request: toBase64(request),
        signerName: names.nodeClientSigner,
        usages: ['digital signature', 'client auth'],
      };
      const asked = await client.post(requests, { metadata: { name }, spec });
      assert.equal(asked.status, 201, asked.text);
      const certificate = await eventually(
        async () => (await client.get(`${requests}/${name}`)).body.status.certificate as string | undefined,
        `the certificate ${name}`,
      );
      return { cert: Buffer.from(certificate, 'base64').toString('latin1'), key: privateKey };
    }

    it('finds the cluster with nothing but its token', async () => {
      const secret = await admin.post(`${systemPath}/secrets`, {
        metadata: { name: `bootstrap-token-${id}` },
        type: names.bootstrapTokenSecretType,
        stringData: {
          'token-id': id,
          'token-secret': token.slice(id.length + 1),
          'usage-bootstrap-signing': 'true',
          'usage-bootstrap-authentication': 'true',
        },
      });
      assert.equal(secret.status, 201, secret.text);
      // The node does not know the authority yet, so it trusts the signature.
      const anonymous = cluster.clientFor(cluster.first);
      const path = `/api/v1/namespaces/${names.publicNamespace}/configmaps/cluster-info`;
      const data = await eventually(async () => {
        const { status, body } = await anonymous.get(path);
        return status === 200 && `jws-kubeconfig-${id}` in body.data && (body.data as Record<string, string>);
      }, 'the signed map');
      anonymous.close();
      const [header, , signature] = (data[`jws-kubeconfig-${id}`] ?? '').split('.');
      const content = Buffer.from(data.kubeconfig ?? '').toString('base64url');
      const text = `${header}.${content}.${signature}`;
      const verify = (key: string) => compactVerify(text, new TextEncoder().encode(key), { algorithms: ['HS256'] });
      // Tools of upstream's release 1.37 expect the secret alone as key, the specification the whole token.
      const keys = [token, token.slice(id.length + 1)];
      await verify((compat === 'kubernetes' ? keys[1] : keys[0]) as string);
      await assert.rejects(verify((compat === 'kubernetes' ? keys[0] : keys[1]) as string));
      const [{ cluster: entry }] = parse(data.kubeconfig ?? '').clusters;
      const ca = Buffer.from(entry['certificate-authority-data'], 'base64').toString('latin1');
      found = { server: entry.server, ca };
      assert.deepEqual(found, { server: cluster.first.url, ca: cluster.pki.authority });
    });

    it('may do nothing with its token before an administrator lets nodes join', async () => {
      const { request } = await makeRequestWithKey({ subject: 'CN=system:node:n1, O=system:nodes' });
      const spec = { request: toBase64(request), signerName: names.nodeClientSigner, usages: ['client auth'] };
      const { status, body } = await withClient({ token }, (client) =>
        client.post(requests, { metadata: { name: 'early' }, spec }),
      );
      assert.equal(status, 403);
      assert.match(body.message, new RegExp(`User "system:bootstrap:${id}" cannot create resource`));
    });

    it('gets the certificate of a node with its token', async () => {
      await bind('system:node-bootstrapper', 'system:bootstrappers');
      await bind(nodeClient, 'system:bootstrappers');
      await eventually(
        () => withClient({ token }, async (client) => (await client.get(requests)).status !== 403),
        'the right to ask',
      );
      own = await withClient({ token }, (client) => certify(client, 'n1', 'CN=system:node:n1, O=system:nodes'));
      const { subject, issuer } = new X509Certificate(own.cert);
      assert.equal(subject.split('\n').sort().join(), 'CN=system:node:n1,O=system:nodes');
      assert.equal(issuer, new X509Certificate(found.ca).subject);
      const { status } = (await admin.get(`${requests}/n1`)).body;
      assert.deepEqual(
        status.conditions.map(({ type, reason }: Record<string, string>) => [type, reason]),
        [['Approved', 'AutoApproved']],
      );
      assert.equal((await admin.get(`${requests}/n1`)).body.spec.username, `system:bootstrap:${id}`);
    });

    it('is a node with it, and no other one', async () => {
      await withClient(own, async (client) => {
        const made = await client.post('/api/v1/nodes', { metadata: { name: 'n1' } });
        assert.equal(made.status, 201, made.text);
        const other = await client.post('/api/v1/nodes', { metadata: { name: 'n2' } });
        assert.equal(other.status, 403);
        const secrets = await client.get(`${systemPath}/secrets`);
        assert.equal(secrets.status, 403);
        assert.match(secrets.body.message, /^secrets is forbidden: User "system:node:n1" cannot list/);
      });
    });

    it('renews its certificate as itself, and gets none of another node', async () => {
      await bind(selfNodeClient, 'system:nodes');
      const renewed = await withClient(own, async (client) => {
        const { request } = await makeRequestWithKey({ subject: 'CN=system:node:n2, O=system:nodes' });
        const usages = ['digital signature', 'client auth'];
        const spec = { request: toBase64(request), signerName: names.nodeClientSigner, usages };
        const other = await client.post(requests, { metadata: { name: 'not-mine' }, spec });
        assert.equal(other.status, 201, other.text);
        return certify(client, 'n1-again', 'CN=system:node:n1, O=system:nodes');
      });
      assert.notEqual(renewed.cert, own.cert);
      const { conditions } = (await admin.get(`${requests}/n1-again`)).body.status;
      assert.match(
        conditions[0].message,
        new RegExp(`^Auto approving self ${names.nodeAgent.word} client certificate`),
      );
      // The event arrived before the other one.
      assert.deepEqual((await admin.get(`${requests}/not-mine`)).body.status, {});
      await withClient(renewed, async (client) => assert.equal((await client.get('/api/v1/nodes/n1')).status, 200));
    });

    it('is not let in by its token when that is gone, but by its certificate', async () => {
      assert.equal((await admin.delete(`${systemPath}/secrets/bootstrap-token-${id}`)).status, 200);
      await eventually(
        () => withClient({ token }, async (client) => (await client.get(requests)).status === 401),
        'the end of the token',
      );
      await withClient(own, async (client) => assert.equal((await client.get('/api/v1/nodes/n1')).status, 200));
    });
  });
}
