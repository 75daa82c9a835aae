import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TestIdentity } from '../support/test-authority.js';
import { Kubectl } from './support/kubectl.js';
import { TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const execVersion = 'client.authentication.k8s.io/v1beta1';

let cluster: TestCluster;
let server: TestServer;
let users: TestIdentity;
const file = (name: string) => join(cluster.directory, name);

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
  users = await TestIdentity.root('users');
  writeFileSync(file('users.pem'), users.cert);
  server = await cluster.addServer(undefined, [`--client-ca-file=${file('users.pem')}`]);
});
after(() => cluster?.stop());

/** A kubectl whose credentials come from a plugin that runs `script` (a shell script) and counts its runs. */
function pluginOf(name: string, script: string): { readonly kubectl: Kubectl; runs(): number } {
  const plugin = file(`${name}.sh`);
  const count = file(`${name}.runs`);
  writeFileSync(plugin, `#!/bin/sh\necho run >> ${count}\n${script}\n`);
  chmodSync(plugin, 0o700);
  const kubeconfig = file(`${name}.kubeconfig`);
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 's', user: 'u' } }],
      clusters: [{ name: 's', cluster: { server: server.url, 'certificate-authority': cluster.pki.authorityFile } }],
      users: [
        {
          name: 'u',
          user: {
            exec: { apiVersion: execVersion, command: plugin, interactiveMode: 'Never', provideClusterInfo: true },
          },
        },
      ],
    }),
  );
  return {
    kubectl: new Kubectl(kubeconfig),
    runs: () => (existsSync(count) ? readFileSync(count, 'utf8').trim().split('\n').length : 0),
  };
}

function print(status: object): string {
  const path = file(`credential-${Math.random().toString(36).slice(2)}.json`);
  writeFileSync(path, JSON.stringify({ apiVersion: execVersion, kind: 'ExecCredential', status }));
  return `cat ${path}`;
}

const userName = (kubectl: Kubectl) => kubectl.ok(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']);

describe('credentials of an exec plugin', () => {
  it('may be a token', () => {
    const { kubectl, runs } = pluginOf('token', print({ token: tokens.alice }));
    assert.equal(userName(kubectl), 'alice');
    assert.equal(runs(), 1);
  });

  it('may be a certificate with its key', async () => {
    const { chain, key } = await users.issue({ subject: [{ O: ['crew'] }, { CN: ['carla'] }] });
    const { kubectl } = pluginOf('certificate', print({ clientCertificateData: chain, clientKeyData: key }));
    assert.equal(userName(kubectl), 'carla');
    const groups = kubectl.ok(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups}']);
    assert.deepEqual(JSON.parse(groups), ['crew', 'system:authenticated']);
  });

  it('are asked for again after a 401', () => {
    const first = file('first-run-done');
    const script = `if [ -e ${first} ]; then ${print({ token: tokens.bob })}; else touch ${first}; ${print({ token: 'stale' })}; fi`;
    const { kubectl, runs } = pluginOf('renewed', script);
    // The request with the stale token fails, and the next one of the same run has the new one.
    const { stdout, stderr } = kubectl.run(['get', 'namespaces', '-o', 'name']);
    assert.ok(runs() >= 2, `${runs()} runs: ${stderr}`);
    assert.match(stdout, /namespace\/default/, stderr);
  });

  it('that stay wrong are reported', () => {
    const { kubectl, runs } = pluginOf('wrong', print({ token: 'never-valid' }));
    const { code, stderr } = kubectl.run(['get', 'namespaces']);
    assert.notEqual(code, 0);
    assert.match(stderr, /must be logged in|Unauthorized|provide credentials/);
    assert.ok(runs() >= 2);
  });

  it('can be made for the cluster that they are for', () => {
    const info = file('info.json');
    const script = `printf '%s' "$KUBERNETES_EXEC_INFO" > ${info}\n${print({ token: tokens.alice })}`;
    assert.equal(userName(pluginOf('informed', script).kubectl), 'alice');
    const { spec } = JSON.parse(readFileSync(info, 'utf8'));
    assert.equal(spec.cluster.server, server.url);
    const authority = Buffer.from(spec.cluster['certificate-authority-data'], 'base64').toString('utf8');
    assert.equal(authority, cluster.pki.authority);
  });
});
