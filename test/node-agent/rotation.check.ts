// Gives a node certificates that live for seconds, dated back by minutes as signers do, and takes its server away meanwhile: the running agent must
// always show and use a certificate that is valid, and must not ask more often than it has to. As root: `npm run check:node-agent-rotation`.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, type PeerCertificate } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { AgentProcess } from '../e2e/support/agent-process.js';
import { eventually, freePort, TestCluster } from '../e2e/support/test-cluster.js';
import { removeCgroupEverywhere } from '../support/cgroups.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { randomSerial } from '../support/test-authority.js';

const lifeMs = 20_000;
const backdateMs = 300_000;
const nodeName = 'rotating';
const cgroupRoot = `plinth-rotation-${process.pid}`;
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const subjectAlternativeName = '2.5.29.17';
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

describe('certificates of a node that live for seconds', { timeout: 600_000 }, () => {
  let cluster: TestCluster;
  let proxy: TcpProxy;
  let agent: AgentProcess;
  let folder: string;
  let port: number;
  let signing: Promise<void>;
  const stopping = new AbortController();
  /** When each request of a purpose was signed, in milliseconds since the epoch. */
  const signed: Record<string, number[]> = { 'client auth': [], 'server auth': [] };

  before(async () => {
    folder = await fs.mkdtemp('/tmp/plinth-rotation-');
    cluster = await TestCluster.start({
      servers: 1,
      flags: ['--compat=kubernetes', '--authorization-mode=Node,RBAC', '--enable-bootstrap-token-auth'],
    });
    proxy = await TcpProxy.start(Number(new URL(cluster.first.url).port));
    await allowJoining();
    signing = sign().catch((error: unknown) => console.error(error));
    port = await freePort();
    await fs.writeFile(join(folder, 'bootstrap'), bootstrapConfig());
    agent = await AgentProcess.start([
      ...['--compat=kubernetes', `--kubeconfig=${join(folder, 'kubeconfig')}`, `--hostname-override=${nodeName}`],
      ...[`--bootstrap-kubeconfig=${join(folder, 'bootstrap')}`, `--cert-dir=${join(folder, 'certificates')}`],
      ...['--rotate-server-certificates', '--node-ip=127.0.0.1', '--address=127.0.0.1', `--port=${port}`],
      ...[`--container-runtime-endpoint=unix://${folder}/none.sock`, `--root-dir=${join(folder, 'agent')}`],
      ...[`--pod-logs-dir=${join(folder, 'logs')}`, `--cgroup-root=/${cgroupRoot}`],
      ...[
        '--fail-swap-on=false',
        '--healthz-port=0',
        '--node-lease-duration=4s',
        '--kube-api-qps=100',
        '--kube-api-burst=200',
      ],
    ]);
  });
  after(async () => {
    await agent?.stop();
    stopping.abort();
    await signing;
    await proxy?.stop();
    await cluster?.stop();
    await fs.rm(folder, { recursive: true, force: true });
    await removeCgroupEverywhere(cgroupRoot);
  });

  async function allowJoining(): Promise<void> {
    const rbac = { apiGroup: 'rbac.authorization.k8s.io' };
    const role = 'system:node-bootstrapper';
    const binding = await cluster.first.client.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'joining' },
      roleRef: { ...rbac, kind: 'ClusterRole', name: role },
      subjects: [{ ...rbac, kind: 'Group', name: 'system:bootstrappers' }],
    });
    assert.equal(binding.status, 201, binding.text);
    const secret = await cluster.first.client.post('/api/v1/namespaces/kube-system/secrets', {
      metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
      },
    });
    assert.equal(secret.status, 201, secret.text);
  }

  function bootstrapConfig(): string {
    const authority = Buffer.from(cluster.pki.authority).toString('base64');
    const server = proxy.through(cluster.first.url).replace(/\/$/, '');
    return JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'x' },
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': authority } }],
      users: [{ name: 'u', user: { token: 'abcdef.0123456789abcdef' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    });
  }

  /** Approves and signs everything, until the end. */
  async function sign(): Promise<void> {
    const { client } = cluster.first;
    while (!stopping.signal.aborted) {
      const { items } = (await client.get(requests)).body;
      for (const item of items) {
        if (item.status.certificate !== undefined) continue;
        const path = `${requests}/${item.metadata.name}`;
        const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'test' };
        const approved = await client.put(`${path}/approval`, { ...item, status: { conditions: [condition] } });
        assert.equal(approved.status, 200, approved.text);
        const certificate = Buffer.from(await certify(item.spec)).toString('base64');
        const status = { ...approved.body.status, certificate };
        const done = await client.put(`${path}/status`, { ...approved.body, status });
        assert.equal(done.status, 200, done.text);
        const purpose = item.spec.usages.find((usage: string) => usage in signed);
        signed[purpose]?.push(Date.now());
      }
      await delay(100);
    }
  }

  async function certify({ request, usages }: { request: string; usages: readonly string[] }): Promise<string> {
    const asked = new x509.Pkcs10CertificateRequest(Buffer.from(request, 'base64').toString());
    const names = asked.getExtension(subjectAlternativeName);
    const purpose = usages.includes('server auth')
      ? x509.ExtendedKeyUsage.serverAuth
      : x509.ExtendedKeyUsage.clientAuth;
    const key = createPrivateKey(await fs.readFile(cluster.pki.authorityKeyFile));
    const block = key.export({ type: 'pkcs8', format: 'der' });
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: randomSerial(),
      subject: asked.subject,
      issuer: new x509.X509Certificate(cluster.pki.authority).subject,
      notBefore: new Date(Date.now() - backdateMs),
      notAfter: new Date(Date.now() + lifeMs),
      publicKey: asked.publicKey,
      signingKey: await crypto.subtle.importKey('pkcs8', block, algorithm, false, ['sign']),
      signingAlgorithm: algorithm,
      extensions: [
        new x509.ExtendedKeyUsageExtension([purpose]),
        ...(names === null || names === undefined ? [] : [names]),
      ],
    });
    return `${certificate.toString('pem')}\n`;
  }

  /** The certificate that the server of the agent shows. */
  const shown = () =>
    new Promise<PeerCertificate>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate());
        socket.end();
      });
      socket.on('error', reject);
    });
  const leaseTime = async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`;
    return Date.parse((await cluster.first.client.get(path)).body.spec?.renewTime ?? '');
  };
  const isRenewed = (since: number) => async () => (await leaseTime()) > since;

  /** The least time between two requests of a purpose. */
  function leastPause(purpose: string, from = 0): number {
    const times = (signed[purpose] ?? []).filter((time) => time >= from);
    return Math.min(...times.slice(1).map((time, index) => time - (times[index] ?? 0)));
  }

  it('are renewed in time, both of them, and used without a restart', async () => {
    const serials = new Set<string>();
    const began = Date.now();
    await eventually(async () => (signed['server auth']?.length ?? 0) > 0, 'the first serving certificate');
    await eventually(async () => (await shown()).issuer.CN !== nodeName, 'it is shown');
    while (Date.now() < began + 4 * lifeMs) {
      const { serialNumber, valid_to } = await shown();
      assert.ok(Date.parse(valid_to) > Date.now(), 'the serving certificate has not expired');
      serials.add(serialNumber);
      await eventually(isRenewed(Date.now() - 1000), 'the lease is renewed', 10_000);
      await delay(500);
    }
    assert.ok(serials.size >= 4, `${serials.size} serving certificates`);
    for (const purpose of Object.keys(signed)) {
      const count = signed[purpose]?.length ?? 0;
      const pause = leastPause(purpose);
      console.log(
        `${purpose}: ${count} certificates in ${(Date.now() - began) / 1000} s, ${pause} ms or more between them`,
      );
      assert.ok(pause > 0.6 * lifeMs, purpose);
    }
  });

  it('are renewed when the server was away at that time', async () => {
    const before = signed['client auth']?.length ?? 0;
    await eventually(async () => (signed['client auth']?.length ?? 0) > before, 'a new certificate');
    // It is due at 14 s, and ends at 20 s.
    await delay(0.65 * lifeMs);
    proxy.cut(true);
    await delay(0.3 * lifeMs - 3000);
    proxy.cut(false);
    const since = Date.now();
    await eventually(isRenewed(since), 'the lease is renewed', 60_000);
    console.log(`a lease ${Date.now() - since} ms after the server was back`);
  });

  it('come like those of a new node when they have expired meanwhile', async () => {
    proxy.cut(true);
    await delay(2 * lifeMs);
    const down = signed['client auth']?.length;
    proxy.cut(false);
    const since = Date.now();
    await eventually(isRenewed(since), 'the lease is renewed', 90_000);
    console.log(`a lease ${Date.now() - since} ms after the server was back`);
    assert.ok((signed['client auth']?.length ?? 0) > (down ?? 0));
    assert.equal(agent.process.exitCode, null, 'the agent still runs');
    const { items } = (await cluster.first.client.get(requests)).body;
    const users = items.map(({ spec }: { spec: { username: string } }) => spec.username);
    assert.ok(users.filter((user: string) => user === 'system:bootstrap:abcdef').length >= 2, 'asked with the token');
    const { valid_to } = await eventually(async () => {
      const found = await shown();
      return Date.parse(found.valid_to) > Date.now() && found;
    }, 'a serving certificate that is valid');
    assert.ok(valid_to);
  });
});
