import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { get as getSecurely } from 'node:https';
import { join } from 'node:path';
import { issueCertificate, type KeyPair } from '../../../src/tools/cli/pki/issue-certificate.js';
import { ensureServiceAccountKey } from '../../../src/tools/cli/pki/service-account-key.js';
import { endWithUs } from '../../support/child-guard.js';
import { freePort } from '../../support/ports.js';
import { ApiClient } from './api-client.js';
import { eventually } from './test-cluster.js';

/** The programs, folders and environment of a control plane. */
export interface SuitePlaneOptions {
  /** The folder that `plinth assets` wrote. */
  readonly assets: string;
  /** Parent of the folders that a suite creates. */
  readonly temporary: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A control plane as test suites start it: etcd, then kube-apiserver, waiting for the health check of each. */
export class SuitePlane {
  readonly children: ChildProcess[] = [];
  log = '';

  private constructor(
    private readonly options: SuitePlaneOptions,
    readonly dataDirectory: string,
    private readonly storeUrl: string,
    private readonly url: string,
    private readonly certificates: string,
    readonly client: ApiClient,
  ) {}

  static async start(options: SuitePlaneOptions): Promise<SuitePlane> {
    const folder = mkdtempSync(join(options.temporary, 'k8s test '));
    const authority = await issueCertificate({ commonName: 'suite', usage: 'ca', validDays: 40 }, Date.now());
    const serving = await issueCertificate(
      { commonName: 'localhost', usage: 'server', names: ['localhost', '127.0.0.1'], validDays: 40 },
      Date.now(),
      authority,
    );
    const admin = await issueCertificate(
      { commonName: 'default', organization: 'system:masters', usage: 'client', validDays: 40 },
      Date.now(),
      authority,
    );
    writeFileSync(join(folder, 'client-cert-auth-ca.crt'), authority.certificate);
    writePair(folder, 'apiserver', serving);
    await ensureServiceAccountKey(folder);
    const url = `https://127.0.0.1:${await freePort()}`;
    const credentials = { ca: authority.certificate, cert: admin.certificate, key: admin.privateKey };
    const plane = new SuitePlane(
      options,
      join(folder, 'etcd data'),
      `http://127.0.0.1:${await freePort()}`,
      url,
      folder,
      new ApiClient(url, credentials),
    );
    await plane.startStore();
    await plane.startServer();
    return plane;
  }

  async startStore(): Promise<ChildProcess> {
    const { storeUrl } = this;
    const peers = `http://127.0.0.1:${await freePort()}`;
    return await this.run('etcd', `${storeUrl}/health`, [
      `--advertise-client-urls=${storeUrl}`,
      `--data-dir=${this.dataDirectory}`,
      `--listen-client-urls=${storeUrl}`,
      `--listen-peer-urls=${peers}`,
      '--unsafe-no-fsync=true',
    ]);
  }

  async startServer(...more: readonly string[]): Promise<ChildProcess> {
    const { url, certificates } = this;
    return await this.run('kube-apiserver', `${url}/healthz`, [
      '--allow-privileged=true',
      '--authorization-mode=RBAC',
      '--bind-address=127.0.0.1',
      `--cert-dir=${certificates}`,
      `--client-ca-file=${join(certificates, 'client-cert-auth-ca.crt')}`,
      '--disable-admission-plugins=ServiceAccount',
      `--etcd-servers=${this.storeUrl}`,
      `--secure-port=${new URL(url).port}`,
      `--service-account-issuer=${url}/`,
      `--service-account-key-file=${join(certificates, 'service-account.key')}`,
      `--service-account-signing-key-file=${join(certificates, 'service-account.key')}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      ...more,
    ]);
  }

  /** Stops the processes as suites do, the server first; resolves with their exit codes. */
  async stop(): Promise<(number | null)[]> {
    this.client.close();
    const codes: (number | null)[] = [];
    for (const child of this.children.toReversed()) {
      child.kill('SIGTERM');
      codes.push(await exitOf(child));
    }
    return codes;
  }

  private async run(name: string, healthUrl: string, flags: readonly string[]): Promise<ChildProcess> {
    const { assets, environment } = this.options;
    const child = spawn(join(assets, name), flags, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    endWithUs(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.log += chunk.toString('utf8');
      });
    }
    this.children.push(child);
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${this.log}`);
      return (await statusOf(healthUrl)) === 200;
    }, `${name} is healthy`);
    return child;
  }
}

/** Resolves with the exit code of a process once it has ended and all of its output has arrived. */
export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return child.exitCode;
}

function writePair(folder: string, name: string, { certificate, privateKey }: KeyPair): void {
  writeFileSync(join(folder, `${name}.crt`), certificate);
  writeFileSync(join(folder, `${name}.key`), privateKey);
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = url.startsWith('https:') ? getSecurely(url, { rejectUnauthorized: false, agent: false }) : get(url);
    sent.once('error', () => resolve(undefined));
    sent.once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
}
