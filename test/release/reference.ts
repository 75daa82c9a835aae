import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InsecureClient } from './insecure-client.js';

const token = 'release-check';

/** A new key that signs the tokens of service accounts, in PEM. */
export function accountKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' });
}

/** A server of a release, with a store of its own, both from a folder with `kube-apiserver` and `etcd`. */
export class Reference {
  private constructor(
    readonly client: InsecureClient,
    private readonly processes: readonly ChildProcess[],
    private readonly directory: string,
  ) {}

  /** @throws Error when the server is not ready after two minutes */
  static async start(folder: string): Promise<Reference> {
    const directory = mkdtempSync(join(tmpdir(), 'release-'));
    const [port, store, peer] = await Promise.all([freePort(), freePort(), freePort()]);
    const key = join(directory, 'accounts.key');
    writeFileSync(key, accountKey(), { mode: 0o600 });
    const users = join(directory, 'tokens.csv');
    writeFileSync(users, `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
    const run = (program: string, flags: readonly string[]) =>
      spawn(join(folder, program), flags, { cwd: directory, stdio: 'ignore' });
    const [client, own] = [`http://127.0.0.1:${store}`, `http://127.0.0.1:${peer}`];
    const processes = [
      run('etcd', [
        '--data-dir=store',
        `--listen-client-urls=${client}`,
        `--advertise-client-urls=${client}`,
        `--listen-peer-urls=${own}`,
        `--initial-advertise-peer-urls=${own}`,
        `--initial-cluster=default=${own}`,
      ]),
      run('kube-apiserver', [
        `--etcd-servers=${client}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        '--cert-dir=certs',
        `--token-auth-file=${users}`,
        '--authorization-mode=Node,RBAC',
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-signing-key-file=${key}`,
        `--service-account-key-file=${key}`,
        '--service-cluster-ip-range=10.0.0.0/16',
      ]),
    ];
    const reference = new Reference(new InsecureClient(`https://127.0.0.1:${port}`, token), processes, directory);
    for (let tries = 0; tries < 240; tries++) {
      const answer = await reference.client.get('/readyz').catch(() => undefined);
      if (answer?.status === 200) return reference;
      await delay(500);
    }
    await reference.stop();
    throw new Error(`the server in ${folder} is not ready after two minutes`);
  }

  /** The server first: it waits for a store that went before it. */
  async stop(): Promise<void> {
    for (const process of this.processes.toReversed()) {
      const ended = new Promise((resolve) => process.once('close', resolve));
      if (process.exitCode === null && process.signalCode === null) {
        process.kill('SIGKILL');
        await ended;
      }
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
