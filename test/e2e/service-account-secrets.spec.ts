import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Compatibility, vendorNames } from '../../src/base/machinery/vendor.js';
import { Kubectl } from './support/kubectl.js';
import { eventually, TestCluster, type TestServer } from './support/test-cluster.js';

for (const compat of ['', 'kubernetes'] as const satisfies readonly Compatibility[]) {
  const names = vendorNames('k8s.io', compat);

  describe(`tokens in secrets${compat === '' ? '' : `, with the names of ${compat}`}`, () => {
    let cluster: TestCluster;
    let kubectl: Kubectl;
    let servers: readonly TestServer[];

    before(async () => {
      cluster = await TestCluster.start({ servers: 0 });
      const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const file = (name: string, text: string | Buffer) => {
        const path = join(cluster.directory, name);
        writeFileSync(path, text, { mode: 0o600 });
        return path;
      };
      const privateKey = file('sa.key', keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const publicKey = file('sa.pub', keys.publicKey.export({ type: 'spki', format: 'pem' }));
      const flags = ['--authorization-mode=RBAC', ...(compat === '' ? [] : [`--compat=${compat}`])];
      // Servers that only check tokens have the public key.
      const serving = [...flags, `--service-account-key-file=${publicKey}`];
      servers = await Promise.all([cluster.addServer(undefined, serving), cluster.addServer(undefined, serving)]);
      cluster.startControllers([
        ...flags,
        `--service-account-private-key-file=${privateKey}`,
        `--root-ca-file=${cluster.pki.authorityFile}`,
      ]);
      kubectl = new Kubectl(cluster.first.kubeconfig);
    });
    after(() => cluster?.stop());

    const anything = '/api/v1/namespaces/none/pods';
    const statusOf = async (server: TestServer, token: string) => (await server.client.get(anything, { token })).status;
    const everywhere = (token: string, status: number) =>
      eventually(
        async () => (await Promise.all(servers.map((server) => statusOf(server, token)))).every((s) => s === status),
        `${status} from every server`,
      );

    function secretText(name: string, account: string): string {
      return JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, annotations: { [names.serviceAccountNameAnnotation]: account } },
        type: names.serviceAccountTokenSecretType,
      });
    }

    /** Entries of a secret that has been filled. */
    const filled = (name: string) =>
      eventually(() => {
        const { data } = JSON.parse(kubectl.ok(['get', 'secret', name, '-o', 'json']));
        return (
          data?.token !== undefined &&
          (Object.fromEntries(
            Object.entries(data as Record<string, string>).map(([key, value]) => [
              key,
              Buffer.from(value, 'base64').toString('utf8'),
            ]),
          ) as Record<'token' | 'ca.crt' | 'namespace', string>)
        );
      }, 'the token');

    it('come with the account, work in every process and are its user', async () => {
      kubectl.ok(['create', 'sa', 'robot']);
      kubectl.ok(['apply', '-f', '-'], secretText('robot-token', 'robot'));
      const { token, namespace, 'ca.crt': authority } = await filled('robot-token');
      assert.equal(namespace, 'default');
      assert.equal(authority, cluster.pki.authority);
      await everywhere(token, 403);
      // A client needs only the content of the secret.
      const path = join(cluster.directory, 'robot-ca.crt');
      writeFileSync(path, authority);
      const client = new Kubectl(join(cluster.directory, 'no.kubeconfig'));
      const access = [`--server=${cluster.first.url}`, `--certificate-authority=${path}`, `--token=${token}`];
      const robot = (...args: readonly string[]) => client.run([...access, ...args]);
      assert.match(robot('auth', 'whoami').stdout, /system:serviceaccount:default:robot/);
      assert.match(robot('get', 'pods').stderr, /"system:serviceaccount:default:robot" cannot list/);
      kubectl.ok(['create', 'rolebinding', 'robot', '--clusterrole=view', '--serviceaccount=default:robot']);
      await eventually(() => robot('get', 'pods').code === 0, 'the right of the account');
    });

    it('are revoked with their secret, and not replaced', async () => {
      const { token } = await filled('robot-token');
      await everywhere(token, 403);
      kubectl.ok(['delete', 'secret', 'robot-token']);
      await everywhere(token, 401);
      kubectl.ok(['apply', '-f', '-'], secretText('robot-token', 'robot'));
      const next = await filled('robot-token');
      await everywhere(next.token, 403);
    });

    it('go with their account', async () => {
      const { token } = await filled('robot-token');
      kubectl.ok(['delete', 'sa', 'robot']);
      await everywhere(token, 401);
      await eventually(() => kubectl.run(['get', 'secret', 'robot-token']).code === 1, 'the end of the secret');
      // Another account with that name is a different one.
      kubectl.ok(['create', 'sa', 'robot']);
      await everywhere(token, 401);
    });

    it('are not made for accounts that do not exist', async () => {
      kubectl.ok(['apply', '-f', '-'], secretText('orphan', 'nobody'));
      await eventually(() => kubectl.run(['get', 'secret', 'orphan']).code === 1, 'the end of the secret');
    });

    it('leave nothing behind in a namespace that ends', async () => {
      kubectl.ok(['create', 'namespace', 'short']);
      const inside = (...args: string[]) => kubectl.run(['-n', 'short', ...args]);
      await eventually(() => inside('get', 'sa', 'default').code === 0, 'the default account');
      await eventually(() => inside('get', 'cm', names.rootAuthorityMap).code === 0, 'the map of authorities');
      kubectl.ok(['-n', 'short', 'apply', '-f', '-'], secretText('kept', 'default'));
      kubectl.ok(['delete', 'namespace', 'short', '--timeout=30s']);
      kubectl.ok(['create', 'namespace', 'short']);
      await eventually(() => inside('get', 'sa', 'default').code === 0, 'the default account, again');
      assert.equal(inside('get', 'secret', 'kept').code, 1);
    });
  });
}
