import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/machinery/clock.js';
import { formatKubeconfig } from '../../src/tools/cli/kubeconfig.js';
import { ensurePki } from '../../src/tools/cli/pki/pki.js';
import { ensureServiceAccountKey } from '../../src/tools/cli/pki/service-account-key.js';
import { eventually } from '../e2e/support/test-cluster.js';
import { forgetFolder, removeWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { freePort } from '../support/ports.js';
import { startTestPostgres } from '../support/test-postgres.js';
import type { Plane } from './plane.js';
import { Requester } from './requester.js';
import { type MemoryLimits, Supervised } from './supervised.js';

const adminToken = 'admin-token';
const mebibyte = 2 ** 20;

/** Limits as in the chart: the memory of a process, half of which is for the engine's heap. */
const limits = {
  server: { resident: 2048 * mebibyte, heap: 1024 * mebibyte },
  loops: { resident: 1024 * mebibyte, heap: 512 * mebibyte },
  dev: { resident: 3072 * mebibyte, heap: 1536 * mebibyte },
} as const;

/** Plinth as in production, with two servers and two processes of control loops, or as one process of `plinth dev`. */
export async function startPlinth(variant: 'serve' | 'dev', nodes: number): Promise<Plane> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-tenants-'));
  removeWithUs(folder);
  const postgres = await startTestPostgres({ fsync: true });
  const databaseUrl = await postgres.createTestDatabase();
  const pki = await ensurePki({
    directory: join(folder, 'pki'),
    bindAddress: '127.0.0.1',
    serviceClusterIpRange: '10.0.0.0/16',
    clock: systemClock,
  });
  const tokenKey = await ensureServiceAccountKey(folder);
  const tokenFile = join(folder, 'tokens.csv');
  writeFileSync(tokenFile, `${adminToken},admin,admin-uid,"system:masters"\n`, { mode: 0o600 });

  const program = (name: string, args: readonly string[], memory?: MemoryLimits & { readonly heap: number }) =>
    new Supervised({
      name,
      file: process.execPath,
      args: [mainFile, ...args],
      env: environment(folder, databaseUrl, memory?.heap),
      folder,
      ...(memory === undefined ? {} : { limits: memory }),
    });
  const serving = (port: number) => [
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--tls-cert-file=${pki.serving.certificateFile}`,
    `--tls-private-key-file=${pki.serving.privateKeyFile}`,
    `--client-ca-file=${pki.authorityFile}`,
    `--token-auth-file=${tokenFile}`,
    '--authorization-mode=Node,RBAC',
    `--service-account-signing-key-file=${tokenKey}`,
    '--compat=kubernetes',
    '--feature-gates=CBORServingAndStorage=true',
  ];
  const looping = [
    '--authorization-mode=Node,RBAC',
    `--service-account-private-key-file=${tokenKey}`,
    `--root-ca-file=${pki.authorityFile}`,
    `--cluster-signing-cert-file=${pki.authorityFile}`,
    `--cluster-signing-key-file=${pki.authorityKeyFile}`,
    '--compat=kubernetes',
  ];
  const ports = variant === 'dev' ? [await freePort()] : [await freePort(), await freePort()];
  const servers =
    variant === 'dev'
      ? [program('dev', ['dev', `--data-dir=${join(folder, 'data')}`, '--console-port=0', ...devFlags()], limits.dev)]
      : ports.map((port, i) => program(`server ${i + 1}`, ['serve', ...serving(port)], limits.server));
  function devFlags(): string[] {
    return [...serving(ports[0] as number), ...looping];
  }
  const loops =
    variant === 'dev' ? [] : [1, 2].map((i) => program(`loops ${i}`, ['controllers', ...looping], limits.loops));
  const urls = ports.map((port) => `https://127.0.0.1:${port}`);
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    formatKubeconfig({ server: urls.at(-1) as string, authority: pki.authority, client: pki.admin }),
    { mode: 0o600 },
  );
  const simulated = program('nodes', [
    'nodes',
    `--kubeconfig=${kubeconfig}`,
    `--count=${nodes}`,
    '--simulated-storage-class',
    '--compat=kubernetes',
  ]);
  const processes = [...servers, ...loops, simulated];
  const start = async () => {
    for (const one of servers) one.start();
    await Promise.all(urls.map((url) => ready(url)));
    for (const one of [...loops, simulated]) one.start();
  };
  const stop = async () => {
    await Promise.all([...loops, simulated].map((one) => one.stop()));
    await Promise.all(servers.map((one) => one.stop()));
  };
  const plane: Plane = {
    name: variant === 'dev' ? 'plinth dev' : 'plinth',
    urls,
    adminToken,
    hasScheduler: true,
    processes,
    restart: async () => {
      await stop();
      await start();
    },
    stop: async () => {
      await stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
      forgetFolder(folder);
    },
  };
  try {
    await start();
    return plane;
  } catch (error) {
    const logs = servers.map((one) => one.lastLines(20)).join('\n');
    await plane.stop();
    throw new Error(`the servers do not start:\n${logs}`, { cause: error });
  }
}

function environment(folder: string, databaseUrl: string, heap: number | undefined): NodeJS.ProcessEnv {
  const report = `${process.env.NODE_OPTIONS ?? ''} --import=${new URL('./report-heap.js', import.meta.url)}`;
  return {
    ...process.env,
    PLINTH_DATABASE_URL: databaseUrl,
    PLINTH_HEAP_FOLDER: folder,
    NODE_OPTIONS: heap === undefined ? report : `${report} --max-old-space-size=${heap / mebibyte}`,
  };
}

/** Resolves when the server is ready; a restart with many stored objects takes a while. */
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
