import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ApiConnection } from '../../src/nodes/connection/api-connection.js';
import { ClusterClient } from '../../src/tools/backup/cluster/cluster-client.js';
import { accessOfFile } from '../../src/tools/cli/api-access.js';
import { TestIdentity } from '../support/test-authority.js';
import { Kubectl } from './support/kubectl.js';
import { answerInTerminal, runProgram } from './support/program.js';
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

/** A user whose credentials come from a plugin. */
interface Plugin {
  readonly kubectl: Kubectl;
  readonly kubeconfig: string;
  /** How often the plugin ran. */
  runs(): number;
}

/** A user whose plugin runs `script` (a shell script). */
function pluginOf(name: string, script: string, interactiveMode = 'Never'): Plugin {
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
            exec: { apiVersion: execVersion, command: plugin, interactiveMode, provideClusterInfo: true },
          },
        },
      ],
    }),
  );
  return {
    kubectl: new Kubectl(kubeconfig),
    kubeconfig,
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

interface Review {
  readonly status: { readonly userInfo: { readonly username: string } };
}

/** Asks the server twice who the user of a kubeconfig is. */
type AskTwice = (kubeconfig: string) => Promise<readonly string[]>;

const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const { signal } = new AbortController();

/** The clients that this program's commands use. */
const clients: Readonly<Record<string, AskTwice>> = {
  'backup, import, restore, kubeconfig and doctor': async (kubeconfig) => {
    const client = new ClusterClient(await accessOfFile(kubeconfig), async () => {});
    const ask = () => client.send<Review>('POST', reviews, { body: review, signal });
    try {
      return [await ask(), await ask()].map(({ status }) => status.userInfo.username);
    } finally {
      client.close();
    }
  },
  'nodes and node': async (kubeconfig) => {
    const connection = new ApiConnection(await accessOfFile(kubeconfig));
    const ask = () => connection.own().send<Review>('POST', reviews, { body: review, signal });
    try {
      return [await ask(), await ask()].map(({ status }) => status.userInfo.username);
    } finally {
      connection.stop();
    }
  },
};

for (const [commands, askTwice] of Object.entries(clients)) {
  describe(`credentials of an exec plugin for ${commands}`, () => {
    const name = commands.replaceAll(/\W+/g, '-');
    const untilRun = (runs: number, first: string, then: string, count: string) =>
      `if [ $(wc -l < ${file(`${count}.runs`)}) -le ${runs} ]; then ${first}; else ${then}; fi`;

    it('are asked for once, and again after a 401, which the caller does not notice', async () => {
      const stale = `${name}-stale`;
      const script = untilRun(1, print({ token: 'stale' }), print({ token: tokens.bob }), stale);
      const { kubeconfig, runs } = pluginOf(stale, script);
      assert.deepEqual(await askTwice(kubeconfig), ['bob', 'bob']);
      assert.equal(runs(), 2);
    });

    it('that stay wrong are reported', async () => {
      const { kubeconfig, runs } = pluginOf(`${name}-wrong`, print({ token: 'never-valid' }));
      await assert.rejects(askTwice(kubeconfig), /Unauthorized/);
      assert.equal(runs(), 2);
    });

    it('may be a certificate, and a new one makes new connections', async () => {
      const [carla, dora] = await Promise.all(
        ['carla', 'dora'].map(async (CN) => {
          const { chain, key } = await users.issue({ subject: [{ O: ['crew'] }, { CN: [CN] }] });
          // The token has expired, so every request needs a new one.
          const expirationTimestamp = '2001-01-01T00:00:00Z';
          return print({ clientCertificateData: chain, clientKeyData: key, expirationTimestamp });
        }),
      );
      const turns = `${name}-turns`;
      const { kubeconfig } = pluginOf(turns, untilRun(2, String(carla), String(dora), turns));
      assert.deepEqual(await askTwice(kubeconfig), ['carla', 'dora']);
    });
  });
}

describe('a command of this program, with an exec plugin', () => {
  it('gives it what kubectl gives it, and passes on what it writes to standard error', async () => {
    const info = file('both.json');
    const script = `echo logging in >&2\nprintf '%s\\n' "$KUBERNETES_EXEC_INFO" >> ${info}\n${print({ token: tokens.admin })}`;
    const { kubectl, kubeconfig, runs } = pluginOf('both', script);
    kubectl.ok(['get', '--raw', '/version']);
    const { code, stdout, stderr } = await runProgram('top', '--once', '--interval=200ms', '--kubeconfig', kubeconfig);
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(server.url));
    assert.match(stderr, /^logging in$/m);
    assert.equal(runs(), 2);
    const [theirs, ours] = readFileSync(info, 'utf8').split(/\n+/);
    assert.deepEqual(JSON.parse(String(ours)), JSON.parse(String(theirs)));
  });

  it('lets it ask the user where there is a terminal', async () => {
    const script = `printf 'go on? [y/N] ' >&2\nread answer\n[ "$answer" = y ] || exit 1\n${print({ token: tokens.admin })}`;
    const { kubeconfig } = pluginOf('asking', script, 'Always');
    const args = ['top', '--once', '--interval=200ms', '--kubeconfig', kubeconfig] as const;
    const { code, text } = await answerInTerminal('y\n', ...args);
    assert.equal(code, 0, text);
    const without = await runProgram(...args);
    assert.notEqual(without.code, 0);
    assert.match(without.stderr, /it reads input \(interactiveMode Always\), and there is no terminal/);
  });
});
