import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeWithUs } from '../../support/child-guard.js';
import { TestCluster, type TestClusterOptions, type TestServer } from './test-cluster.js';

/**
 * Clusters that spec files share, by name. `scripts/test-groups.js` reads the name in a file's text, so that files that share
 * one run in one process.
 */
const kinds = {
  /** Two servers that allow everybody everything, without control loops. */
  plain: () => ({ servers: 2 }),
  /** Three servers like those of `plain`. */
  watches: () => ({ servers: 3 }),
  /** Two servers with RBAC, and the control loops. */
  loops: () => ({ servers: 2, controllers: true, flags: ['--authorization-mode=RBAC'] }),
  /** Two servers whose API groups are those of another vendor. */
  vendor: () => ({
    servers: 2,
    flags: ['--vendor=example.dev', '--runtime-config=admissionregistration.example.dev/v1beta1'],
  }),
  /**
   * A cluster with the modes Node and RBAC, the admission plugins that restrict nodes, and a separate key for service
   * account tokens.
   */
  nodes: () => ({
    servers: 2,
    flags: [
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      `--service-account-signing-key-file=${newSigningKey()}`,
    ],
  }),
} satisfies Readonly<Record<string, () => TestClusterOptions>>;

function newSigningKey(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-signing-'));
  removeWithUs(folder);
  const file = join(folder, 'sign.key');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return file;
}

/** A cluster of this process, with its first servers. */
interface KeptCluster {
  readonly cluster: TestCluster;
  readonly servers: readonly TestServer[];
}

const kept = new Map<keyof typeof kinds, Promise<KeptCluster>>();

/**
 * A running cluster that the files of this process use one after the other: each in namespaces of its own, and with
 * names of its own for whatever has no namespace. Objects that change the servers for everybody, such as policies and
 * webhooks, must be removed at the end. `stop` gives the cluster back and ends servers that the file added. A cluster
 * is not used again if one of its first servers has ended. A file that runs alone gets a cluster of its own.
 */
export async function sharedCluster(kind: keyof typeof kinds): Promise<TestCluster> {
  if (process.env.PLINTH_TEST_GROUP !== '1') return TestCluster.start(kinds[kind]());
  const starting = kept.get(kind) ?? start(kind);
  kept.set(kind, starting);
  const mine = await starting;
  return Object.create(mine.cluster, { stop: { value: () => handBack(kind, mine) } }) as TestCluster;
}

async function start(kind: keyof typeof kinds): Promise<KeptCluster> {
  const cluster = await TestCluster.start(kinds[kind]());
  endWithProcess();
  return { cluster, servers: [...cluster.servers] };
}

async function handBack(kind: keyof typeof kinds, { cluster, servers }: KeptCluster): Promise<void> {
  const added = cluster.servers.filter((server) => !servers.includes(server));
  const isWhole = servers.every((server) => cluster.servers.includes(server) && server.process.exitCode === null);
  if (!isWhole) {
    kept.delete(kind);
    await cluster.stop();
    return;
  }
  for (const server of added) cluster.servers.splice(cluster.servers.indexOf(server), 1);
  await Promise.all(added.map((server) => server.stop()));
}

/**
 * Registers a function that the process calls after the last file: the clusters end first, then their shared database.
 */
function endWithProcess(): void {
  const ends = globalThis as { [endShared]?: () => Promise<void> };
  const before = ends[endShared];
  ends[endShared] = async () => {
    await Promise.all([...kept.values()].map(async (one) => (await one).cluster.stop()));
    kept.clear();
    await before?.();
  };
}

const endShared = Symbol.for('plinth.test.endShared');
