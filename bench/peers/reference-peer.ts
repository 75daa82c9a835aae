import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/machinery/clock.js';
import { ensurePki } from '../../src/tools/cli/pki/pki.js';
import { ApiClient } from '../../test/e2e/support/api-client.js';
import { eventually } from '../../test/e2e/support/test-cluster.js';
import { endWithUs, forgetFolder, removeWithUs } from '../../test/support/child-guard.js';
import { freePort } from '../../test/support/ports.js';
import { startTestPostgres } from '../../test/support/test-postgres.js';
import { end, type PeerKind } from './peer.js';
import { postmasterOn } from './plinth-peer.js';

const token = 'admin-token';

/** A store the reference can use. */
interface Store {
  readonly url: string;
  readonly roots: readonly number[];
  stop(): Promise<void>;
}

/** Starts a program with its output in a file of the folder. */
function run(folder: string, program: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${program.split('/').at(-1)}.log`), 'a');
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', log, log] });
  endWithUs(child);
  child.on('error', (error) => console.error(String(error)));
  return child;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function etcd(folder: string, program: string): Promise<Store> {
  const [client, peer] = [await freePort(), await freePort()];
  const [url, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  mkdirSync(join(folder, 'etcd'), { mode: 0o700 });
  const child = run(folder, program, [
    '--data-dir=etcd',
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
  ]);
  await eventually(() => listens(client), 'etcd');
  return { url, roots: [child.pid as number], stop: () => end(child) };
}

/** The SQL shim: speaks the protocol of the usual store and keeps everything in PostgreSQL. */
async function kine(folder: string, program: string, programs: string): Promise<Store> {
  const postgres = await startTestPostgres({ fsync: true, programs });
  const port = await freePort();
  const endpoint = new URL(postgres.adminUrl);
  endpoint.pathname = '/kine';
  endpoint.searchParams.set('sslmode', 'disable');
  const child = run(folder, program, [`--endpoint=${endpoint.href}`, `--listen-address=127.0.0.1:${port}`]);
  await eventually(() => listens(port), 'kine');
  return {
    url: `http://127.0.0.1:${port}`,
    roots: [child.pid as number, postmasterOn(postgres.port)],
    async stop() {
      await end(child);
      await postgres.stop();
    },
  };
}

/** The reference server over its usual store. */
export function referencePeer(name: string, binaries: string): PeerKind {
  return { name, start: () => startReference(binaries, (folder) => etcd(folder, join(binaries, 'etcd'))) };
}

/**
 * The reference server over PostgreSQL through the SQL shim.
 *
 * @param programs Folder of the PostgreSQL; empty: the embedded one.
 */
export function shimPeer(name: string, binaries: string, programs: string): PeerKind {
  return { name, start: () => startReference(binaries, (folder) => kine(folder, join(binaries, 'kine'), programs)) };
}

async function startReference(binaries: string, makeStore: (folder: string) => Promise<Store>) {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-reference-'));
  removeWithUs(folder);
  const store = await makeStore(folder);
  const serviceClusterIpRange = '10.0.0.0/16';
  const pki = await ensurePki({
    directory: join(folder, 'pki'),
    bindAddress: '127.0.0.1',
    serviceClusterIpRange,
    clock: systemClock,
  });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const accountKey = join(folder, 'accounts.key');
  writeFileSync(accountKey, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin-uid,"system:masters"\n`, { mode: 0o600 });
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const server = run(folder, join(binaries, 'kube-apiserver'), [
    `--etcd-servers=${store.url}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--tls-cert-file=${pki.serving.certificateFile}`,
    `--tls-private-key-file=${pki.serving.privateKeyFile}`,
    `--client-ca-file=${pki.authorityFile}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${accountKey}`,
    `--service-account-key-file=${accountKey}`,
    `--service-cluster-ip-range=${serviceClusterIpRange}`,
    // Nobody makes service accounts here.
    '--disable-admission-plugins=ServiceAccount',
  ]);
  const client = new ApiClient(url, { ca: pki.authority, token });
  const stop = async () => {
    client.close();
    await end(server);
    await store.stop();
    rmSync(folder, { recursive: true, force: true });
    forgetFolder(folder);
  };
  try {
    await eventually(async () => {
      if (server.exitCode !== null) throw new Error(readFileSync(join(folder, 'kube-apiserver.log'), 'utf8'));
      return (await client.get('/readyz').catch(() => undefined))?.status === 200;
    }, 'the reference is ready');
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, token, roots: { server: [server.pid as number], store: store.roots }, stop };
}
