import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { type Compatibility, vendorNames } from '../../src/base/machinery/vendor.js';
import { publicKeyPin } from '../../src/tools/cli/cluster/public-key-pin.js';
import { makeRequest, toBase64 } from '../support/certificate-requests.js';
import { endWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { unlessThere } from '../support/needs.js';
import { programEnvironment } from '../support/program-environment.js';
import { containerdNeeds, TestContainerd } from '../support/test-containerd.js';
import { ApiClient } from './support/api-client.js';
import { runProgram } from './support/program.js';
import { eventually, freePort, TestCluster } from './support/test-cluster.js';

for (const compat of ['kubernetes', ''] as const satisfies readonly Compatibility[]) {
  const names = vendorNames('k8s.io', compat);
  /** Cases that the names of a cluster don't affect run once. */
  const isSecond = compat === '';

  describe(`tokens and joins${compat === '' ? '' : `, with the names of ${compat}`}`, () => {
    let cluster: TestCluster;
    let admin: ApiClient;
    let pin: string;
    const place = (name: string) => join(cluster.directory, name);
    const token = (...args: string[]) => runProgram('token', ...args, `--kubeconfig=${cluster.first.kubeconfig}`);

    before(async () => {
      const flags = ['--authorization-mode=Node,RBAC', `--compat=${compat}`];
      cluster = await TestCluster.start({
        servers: 1,
        flags: [...flags, '--enable-bootstrap-token-auth', '--enable-admission-plugins=NodeRestriction'],
        controllers: true,
        controllerFlags: [...flags, '--controllers=*,bootstrapsigner,tokencleaner'],
      });
      admin = cluster.first.client;
      pin = publicKeyPin(new X509Certificate(cluster.pki.authority));
      const unpublished = await token('create', '--print-join-command');
      assert.match(unpublished.stderr, /the cluster is not published: run plinth cluster-info/);
      const args = ['cluster-info', `--server=${cluster.first.url}`, '--joining-tools', `--compat=${compat}`];
      const env = programEnvironment({ PLINTH_DATABASE_URL: cluster.databaseUrl });
      const authority = `--certificate-authority=${cluster.pki.authorityFile}`;
      await promisify(execFile)(process.execPath, [mainFile, ...args, authority], { env });
    });
    after(() => cluster?.stop());

    /** Joins as far as that is possible without a container runtime. */
    function tryJoin(folder: string, text: string, ...more: string[]) {
      const flags = [`--token=${text}`, `--config-dir=${place(folder)}`, '--skip-phases=preflight,kubelet-start'];
      const address = new URL(cluster.first.url).host;
      return runProgram('join', address, ...flags, `--node-name=${folder}`, '--timeout=180s', ...more);
    }

    it('has what joining tools look for', async () => {
      const system = `/api/v1/namespaces/${names.systemNamespace}/configmaps`;
      const { data: kubeadm } = (await admin.get(`${system}/kubeadm-config`)).body;
      const configuration = parse(kubeadm.ClusterConfiguration);
      assert.equal(configuration.controlPlaneEndpoint, new URL(cluster.first.url).host);
      assert.equal(configuration.networking.serviceSubnet, '10.0.0.0/16');
      const { data: kubelet } = (await admin.get(`${system}/kubelet-config`)).body;
      assert.deepEqual(parse(kubelet.kubelet).clusterDNS, ['10.0.0.10']);
    });

    it('makes tokens, lists them without their secrets and deletes them', { skip: isSecond }, async () => {
      const made = await token('create', '--ttl=2h', '--description=for a test');
      assert.match(made.stdout, /^[a-z0-9]{6}\.[a-z0-9]{16}\n$/, made.stderr);
      const text = made.stdout.trim();
      const id = text.slice(0, 6);
      const { data, type } = (
        await admin.get(`/api/v1/namespaces/${names.systemNamespace}/secrets/bootstrap-token-${id}`)
      ).body;
      const decode = (key: string) => Buffer.from(data[key], 'base64').toString();
      assert.equal(type, names.bootstrapTokenSecretType);
      assert.equal(`${decode('token-id')}.${decode('token-secret')}`, text);
      assert.equal(decode('auth-extra-groups'), 'system:bootstrappers:kubeadm:default-node-token');
      assert.ok(Math.abs(Date.parse(decode('expiration')) - Date.now() - 7_200_000) < 300_000);
      const again = await token('create', text);
      assert.deepEqual([again.code, again.stderr], [1, `plinth: there is already a token with the id ${id}\n`]);
      const table = (await token('list')).stdout;
      assert.match(table, new RegExp(`^${id} +1h +.*authentication,signing +for a test`, 'm'));
      assert.ok(!table.includes(text));
      const listed = JSON.parse((await token('list', '-o', 'json', '--show-secrets')).stdout);
      assert.ok(listed.some((each: { token: string }) => each.token === text));
      assert.equal((await token('delete', text, '--dry-run')).stdout, `the token ${id} is deleted\n`);
      assert.equal((await token('delete', id)).code, 0);
      const gone = await token('delete', text);
      assert.deepEqual([gone.code, gone.stderr], [1, `plinth: there is no token with the id ${id}\n`]);
      assert.equal((await token('create', 'zzzzzz.0123456789abcdef', '--dry-run')).code, 0);
      assert.ok(!(await token('list')).stdout.includes('zzzzzz'));
    });

    it('gets a machine a certificate by the command that it prints', async () => {
      const printed = (await token('create', '--print-join-command')).stdout.trim();
      const [, , address, , text = '', , hash] = printed.split(' ');
      assert.deepEqual(
        [printed.startsWith('plinth join '), address, hash],
        [true, new URL(cluster.first.url).host, pin],
      );
      const joined = await tryJoin('n1', text, `--discovery-token-ca-cert-hash=${pin}`);
      assert.equal(joined.code, 0, joined.stderr + joined.stdout);
      const folder = join(place('n1'), 'node');
      const pem = await readFile(join(folder, 'pki', 'kubelet-client-current.pem'), 'utf8');
      assert.deepEqual(new X509Certificate(pem).subject.split('\n').sort(), ['CN=system:node:n1', 'O=system:nodes']);
      assert.equal((await stat(join(folder, 'kubelet.kubeconfig'))).mode & 0o777, 0o600);
      assert.equal(existsSync(join(folder, 'bootstrap.kubeconfig')), false);
      assert.match(await readFile(join(folder, 'kubelet-config.yaml'), 'utf8'), /mode: Webhook/);
      for (const said of [joined.stdout, joined.stderr]) assert.ok(!said.includes(text.slice(7)));
      // The token is not needed a second time.
      await token('delete', text);
      const again = await tryJoin('n1', text, `--discovery-token-ca-cert-hash=${pin}`);
      assert.match(again.stdout, /this machine has already joined/, again.stderr);
      assert.equal(again.code, 0, again.stderr);
      assert.equal(await readFile(join(folder, 'pki', 'kubelet-client-current.pem'), 'utf8'), pem);
    });

    it('joins by a file about the cluster, with the token alone even if the file has a certificate', {
      skip: isSecond,
    }, async () => {
      const text = (await token('create')).stdout.trim();
      const joined = await runProgram(
        'join',
        ...[`--discovery-file=${cluster.first.kubeconfig}`, `--tls-bootstrap-token=${text}`, '--timeout=180s'],
        ...[`--config-dir=${place('n2')}`, '--node-name=n2', '--skip-phases=preflight,kubelet-start'],
      );
      assert.equal(joined.code, 0, joined.stderr + joined.stdout);
      const pem = await readFile(join(place('n2'), 'node', 'pki', 'kubelet-client-current.pem'), 'utf8');
      assert.deepEqual(new X509Certificate(pem).subject.split('\n').sort(), ['CN=system:node:n2', 'O=system:nodes']);
      const { items } = (await admin.get('/apis/certificates.k8s.io/v1/certificatesigningrequests')).body;
      const users = items.map(({ spec }: { spec: { username: string } }) => spec.username);
      assert.ok(users.includes(`system:bootstrap:${text.slice(0, 6)}`), users.join());
    });

    it('gives a token no right but to join', { skip: isSecond }, async () => {
      const text = (await token('create')).stdout.trim();
      const client = new ApiClient(cluster.first.url, { ca: cluster.pki.authority, token: text });
      const system = `/api/v1/namespaces/${names.systemNamespace}`;
      const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
      const ask = async (name: string, signerName: string, subject: string) => {
        const usages = ['digital signature', 'client auth'];
        const spec = { signerName, usages, request: toBase64(await makeRequest({ subject })) };
        return (await client.post(requests, { metadata: { name }, spec })).status;
      };
      try {
        const gets = [
          `${system}/secrets`,
          `${system}/secrets/bootstrap-token-${text.slice(0, 6)}`,
          `${system}/secrets/kubeadm-certs`,
          `${system}/configmaps`,
          '/api/v1/nodes',
          '/api/v1/pods',
        ];
        for (const path of gets) assert.equal((await client.get(path)).status, 403, path);
        const map = { metadata: { name: 'cluster-info', namespace: names.publicNamespace }, data: {} };
        const path = `/api/v1/namespaces/${names.publicNamespace}/configmaps/cluster-info`;
        assert.equal((await client.put(path, map)).status, 403);
        assert.equal((await client.post('/api/v1/nodes', { metadata: { name: 'n9' } })).status, 403);
        const kubelet = names.nodeClientSigner;
        assert.equal(await ask('masters', names.apiserverClientSigner, 'CN=x,O=system:masters'), 403);
        assert.equal(await ask('masters-as-node', kubelet, 'CN=system:node:n9,O=system:masters'), 201);
        assert.equal(await ask('anybody', names.apiserverClientSigner, 'CN=admin'), 201);
        assert.equal(await ask('node', kubelet, 'CN=system:node:n9,O=system:nodes'), 201);
        assert.equal((await client.put(`${requests}/anybody/approval`, {})).status, 403);
        // Earlier requests have been checked when this one is granted.
        await eventually(
          async () => (await admin.get(`${requests}/node`)).body.status?.certificate !== undefined,
          'the certificate of the node',
        );
        for (const name of ['masters-as-node', 'anybody']) {
          const { status } = (await admin.get(`${requests}/${name}`)).body;
          const types = (status.conditions ?? []).map(({ type }: { type: string }) => type);
          assert.ok(!types.includes('Approved') && status.certificate === undefined, `${name}: ${types}`);
        }
      } finally {
        client.close();
      }
    });

    const noRuntime = unlessThere('a node that joins', containerdNeeds);
    it('starts the agent of the node, which becomes ready', { skip: isSecond || noRuntime }, async () => {
      const containerd = await TestContainerd.start();
      const text = (await token('create')).stdout.trim();
      const args = ['join', new URL(cluster.first.url).host, `--discovery-token-ca-cert-hash=${pin}`, '--foreground'];
      const more = [`--config-dir=${place('real')}`, '--node-name=real', `--cri-socket=${containerd.endpoint}`];
      const child = spawn(process.execPath, [mainFile, ...args, ...more], {
        // The agent is configured by environment variables, since other tests have agents too.
        env: programEnvironment({
          PLINTH_TOKEN: text,
          PLINTH_PORT: String(await freePort()),
          PLINTH_HEALTHZ_PORT: '0',
          PLINTH_FAIL_SWAP_ON: 'false',
          PLINTH_CGROUP_ROOT: `/${containerd.cgroupRoot}`,
          PLINTH_ROOT_DIR: join(containerd.folder, 'root-dir'),
          PLINTH_POD_LOGS_DIR: join(containerd.folder, 'logs'),
        }),
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      endWithUs(child);
      try {
        await eventually(async () => {
          const { body } = await admin.get('/api/v1/nodes/real');
          const conditions: readonly Record<string, string>[] = body.status?.conditions ?? [];
          return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
        }, 'the node');
        const taken = await tryJoin('real-2', text, `--discovery-token-ca-cert-hash=${pin}`, '--node-name=real');
        assert.match(taken.stderr, /the cluster has a node real that is ready: give another --node-name/);
      } finally {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
        await containerd.stop();
      }
      assert.equal(child.exitCode, 0);
    });

    it('lets nobody join by a wrong, ended or useless token, or with another pin', { skip: isSecond }, async () => {
      const text = (await token('create')).stdout.trim();
      const good = `--discovery-token-ca-cert-hash=${pin}`;
      const wrong = await tryJoin('stranger', `${text.slice(0, 7)}0000000000000000`, good);
      assert.match(wrong.stderr, /can't be trusted: its signature is wrong/, wrong.stdout);
      const otherPin = await tryJoin('stranger', text, `--discovery-token-ca-cert-hash=sha256:${'00'.repeat(32)}`);
      assert.match(otherPin.stderr, /has none of the pins: it is sha256:/);
      await token('delete', text);
      await eventually(async () => {
        const path = `/api/v1/namespaces/${names.publicNamespace}/configmaps/cluster-info`;
        return !(`jws-kubeconfig-${text.slice(0, 6)}` in (await admin.get(path)).body.data);
      }, 'the end of the signature');
      const ended = await tryJoin('stranger', text, good, '--timeout=1s');
      assert.match(ended.stderr, /it is unknown, has expired, or may not sign/);
      const signing = (await token('create', '--usages=signing')).stdout.trim();
      const useless = await tryJoin('stranger', signing, good);
      assert.match(useless.stderr, /refuses the token: it is unknown, has expired, or is not for authentication/);
      assert.equal(existsSync(join(place('stranger'), 'node', 'kubelet.kubeconfig')), false);
    });

    it('goes on after a kill at every step, and leaves nothing behind a reset', { skip: isSecond }, async () => {
      const text = (await token('create')).stdout.trim();
      const args = ['join', new URL(cluster.first.url).host, `--config-dir=${place('n3')}`, '--node-name=n3'];
      const more = ['--skip-phases=preflight,kubelet-start', `--discovery-token-ca-cert-hash=${pin}`];
      for (const step of ['[preflight]', '[discovery]', '[certificate]', '[kubelet-config]']) {
        const child = spawn(process.execPath, [mainFile, ...args, ...more], {
          // Tokens in environment variables do not appear in the list of processes.
          env: programEnvironment({ PLINTH_TOKEN: text }),
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        endWithUs(child);
        for await (const chunk of child.stdout) if (String(chunk).includes(step)) child.kill('SIGKILL');
      }
      const joined = await tryJoin('n3', text, `--discovery-token-ca-cert-hash=${pin}`);
      assert.equal(joined.code, 0, joined.stderr);
      assert.equal((await admin.get('/api/v1/nodes/n3')).status, 404);
      const asked = await runProgram('reset', `--config-dir=${place('n3')}`);
      assert.match(asked.stderr, /there is no terminal to ask on: give --force/);
      const removed = await runProgram('reset', '--force', `--config-dir=${place('n3')}`);
      assert.match(removed.stdout, /All of it is removed/, removed.stderr);
      assert.equal(existsSync(place('n3')), false);
    });
  });
}
