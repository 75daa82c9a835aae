import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { servingLeaseResource } from '../../../src/server/advertise/serving-leases.js';
import { Baseline } from '../../../src/tools/test-clusters/host/baseline.js';
import { removeWithUs } from '../../support/child-guard.js';
import { eventually, TestCluster, type TestClusterOptions } from './test-cluster.js';

/**
 * Clusters that spec files share, by name. `scripts/test-groups.js` reads the name in a file's text, so that files that share
 * one run in one process.
 */
const kinds = {
  /** Two servers that allow everybody everything, without control loops. */
  plain: () => ({ servers: 2 }),
  /** Three servers like those of `plain`. */
  watches: () => ({ servers: 3 }),
  /** A server with RBAC, without control loops. */
  rbac: () => ({ servers: 1, flags: ['--authorization-mode=RBAC'] }),
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

/** The clusters without loops that write objects: they return to the state of their start after each file. */
const returning: ReadonlySet<string> = new Set<keyof typeof kinds>(['plain', 'watches', 'rbac']);

/** A cluster of this process. */
interface KeptCluster {
  readonly cluster: TestCluster;
  /** How many servers it starts with. */
  readonly servers: number;
}

const kept = new Map<keyof typeof kinds, Promise<KeptCluster>>();

/**
 * A running cluster that the files of this process use one after the other. Afterwards all objects of most kinds of
 * clusters are as they were. In a cluster with control loops or of another vendor, each file uses namespaces of its
 * own, and names of its own for whatever has no namespace, and removes objects that change the servers for everybody,
 * such as policies and webhooks. The state of the servers besides objects, such as counts of requests, stays. `stop`
 * gives the cluster back, with as many servers as it had; others, and those with flags of the file, end. A cluster with
 * fewer servers is not used again. A file that runs alone gets a cluster of its own.
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
  if (returning.has(kind)) await withBaseline(cluster, (baseline) => baseline.capture());
  return { cluster, servers: cluster.servers.length };
}

async function handBack(kind: keyof typeof kinds, { cluster, servers }: KeptCluster): Promise<void> {
  const like = cluster.servers.filter((server) => server.isRunning && server.flags.length === 0).slice(0, servers);
  if (like.length < servers) {
    kept.delete(kind);
    await cluster.stop();
    return;
  }
  const others = cluster.servers.filter((server) => !like.includes(server));
  cluster.servers.splice(0, cluster.servers.length, ...like);
  await Promise.all(others.map((server) => server.stop()));
  if (returning.has(kind)) await returnToStart(cluster);
}

/** Undoes all changes of objects; resolves when every server has seen that. */
async function returnToStart(cluster: TestCluster): Promise<void> {
  const { changes } = await withBaseline(cluster, (baseline) => baseline.restore(false));
  if (changes.size === 0) return;
  const newest = [...changes.values()].reduce((a, b) => (a > b ? a : b));
  const path = `/api/v1/namespaces/default/configmaps?limit=1&resourceVersion=${newest}&resourceVersionMatch=NotOlderThan`;
  for (const { client } of cluster.servers) {
    await eventually(async () => (await client.get(path)).status === 200, 'the server to see the state of the start');
  }
}

async function withBaseline<T>(cluster: TestCluster, use: (baseline: Baseline) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: cluster.databaseUrl });
  await client.connect();
  try {
    const leases = 'leases.coordination.k8s.io';
    const kept = { leases, namespaces: ['kube-system', 'kube-node-lease'], resources: [servingLeaseResource] };
    const holders = ['namespaces', 'customresourcedefinitions.apiextensions.k8s.io'];
    return await use(new Baseline(client, kept, holders));
  } finally {
    await client.end();
  }
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
