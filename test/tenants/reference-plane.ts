import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../e2e/support/test-cluster.js';
import { forgetFolder, removeWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { freePort } from '../support/ports.js';
import type { Plane } from './plane.js';
import { Requester } from './requester.js';
import { Supervised } from './supervised.js';

const adminToken = 'admintoken';

/**
 * The reference server from a folder of its binaries: two servers over one store, its controller manager, its scheduler
 * if the folder has one, and our simulated nodes.
 */
export async function startReference(bin: string, nodes: number): Promise<Plane> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-tenants-'));
  removeWithUs(folder);
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  openssl('genrsa', '-out', 'sa.key', '2048');
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=ca');
  writeFileSync(file('tokens.csv'), `${adminToken},admin,admin-uid,"system:masters"\n`, { mode: 0o600 });
  const [clients, peers, controllers, scheduling, ...ports] = await Promise.all(Array.from({ length: 6 }, freePort));
  const urls = ports.map((port) => `https://127.0.0.1:${port}`);
  writeFileSync(file('kubeconfig'), kubeconfig(urls.at(-1) as string), { mode: 0o600 });
  const program = (name: string, args: readonly string[]) =>
    new Supervised({ name, file: join(bin, name.split(' ')[0] as string), args, folder });
  const local = (port: number | undefined) => `http://127.0.0.1:${port}`;
  const store = program('etcd', [
    `--data-dir=${file('etcd')}`,
    `--listen-client-urls=${local(clients)}`,
    `--advertise-client-urls=${local(clients)}`,
    `--listen-peer-urls=${local(peers)}`,
    `--initial-advertise-peer-urls=${local(peers)}`,
    `--initial-cluster=default=${local(peers)}`,
    '--log-level=error',
  ]);
  mkdirSync(file('etcd'), { mode: 0o700 });
  const servers = ports.map((port, i) =>
    program(`kube-apiserver ${i + 1}`, [
      `--etcd-servers=${local(clients)}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${file(`certs-${i}`)}`,
      `--token-auth-file=${file('tokens.csv')}`,
      `--client-ca-file=${file('ca.crt')}`,
      '--authorization-mode=Node,RBAC',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-signing-key-file=${file('sa.key')}`,
      `--service-account-key-file=${file('sa.key')}`,
      '--service-cluster-ip-range=10.0.0.0/16',
    ]),
  );
  const client = [`--kubeconfig=${file('kubeconfig')}`, '--leader-elect=false'];
  const loops = program('kube-controller-manager', [
    ...client,
    `--service-account-private-key-file=${file('sa.key')}`,
    `--root-ca-file=${file('ca.crt')}`,
    `--cluster-signing-cert-file=${file('ca.crt')}`,
    `--cluster-signing-key-file=${file('ca.key')}`,
    '--use-service-account-credentials=true',
    `--secure-port=${controllers}`,
  ]);
  const hasScheduler = existsSync(join(bin, 'kube-scheduler'));
  const scheduler = program('kube-scheduler', [...client, `--secure-port=${scheduling}`]);
  const simulated = new Supervised({
    name: 'nodes',
    file: process.execPath,
    args: [mainFile, 'nodes', `--kubeconfig=${file('kubeconfig')}`, `--count=${nodes}`, '--compat=kubernetes'],
    folder,
  });
  const others = [loops, ...(hasScheduler ? [scheduler] : []), simulated];
  const start = async () => {
    for (const one of servers) one.start();
    await Promise.all(urls.map(ready));
    for (const one of others) one.start();
  };
  const stop = async () => {
    await Promise.all(others.map((one) => one.stop()));
    await Promise.all(servers.map((one) => one.stop()));
  };
  const plane: Plane = {
    name: 'reference',
    urls,
    adminToken,
    hasScheduler,
    processes: [store, ...servers, ...others],
    restart: async () => {
      await stop();
      await start();
    },
    stop: async () => {
      await stop();
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
      forgetFolder(folder);
    },
  };
  try {
    store.start();
    await start();
    return plane;
  } catch (error) {
    const logs = servers.map((one) => one.lastLines(20)).join('\n');
    await plane.stop();
    throw new Error(`the reference does not start:\n${logs}`, { cause: error });
  }
}

function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: adminToken } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

async function ready(url: string): Promise<void> {
  const requester = new Requester(url, adminToken);
  try {
    await eventually(
      async () => (await requester.send({ method: 'GET', path: '/readyz' }).catch(() => undefined))?.status === 200,
      `${url} is ready`,
      120_000,
    );
  } finally {
    requester.close();
  }
}
