import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setInterval } from 'node:timers/promises';
import { BackupWriter } from '../src/tools/backup/format/backup-writer.js';
import { TestCluster } from '../test/e2e/support/test-cluster.js';
import { mainFile } from '../test/support/main-file.js';

/* Time and memory of an import, a backup and its verification. `node dist/bench/backup.js [objects]` */

const objects = Number(process.argv[2] ?? 100_000);
const namespaced = { namespaced: true, hasStatus: false, sealed: false };

/** A backup of config maps of 1 KB each, in ten namespaces. */
async function forge(path: string): Promise<void> {
  const file = await open(path, 'ax');
  const writer = new BackupWriter(file);
  const about = { createdAt: new Date().toISOString(), program: 'bench', serverVersion: '', resourceVersion: '1' };
  await writer.begin({ ...about, namespaces: [] }, undefined);
  const space = { apiVersion: 'v1', kind: 'Namespace' };
  await writer.beginSection({ ...space, resource: 'namespaces', ...namespaced, namespaced: false });
  for (let i = 0; i < 10; i++) {
    await writer.object(Buffer.from(JSON.stringify({ ...space, metadata: { name: `n-${i}` } })));
  }
  const map = { apiVersion: 'v1', kind: 'ConfigMap' };
  await writer.beginSection({ ...map, resource: 'configmaps', ...namespaced });
  for (let i = 0; i < objects; i++) {
    const metadata = { name: `map-${i}`, namespace: `n-${i % 10}`, labels: { app: `app-${i % 100}` } };
    await writer.object(Buffer.from(JSON.stringify({ ...map, metadata, data: { text: `${i} `.repeat(150) } })));
  }
  await writer.end([]);
  await file.close();
}

/** Runs a command and prints its time and the most memory that it had. */
async function measure(name: string, ...args: readonly string[]): Promise<void> {
  const began = performance.now();
  const child = spawn(process.execPath, [mainFile, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const output = text(child.stdout);
  const stop = new AbortController();
  const ended = once(child, 'exit').finally(() => stop.abort());
  let peak = 0;
  try {
    for await (const _ of setInterval(50, undefined, { signal: stop.signal })) {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  const [code] = await ended;
  const seconds = (performance.now() - began) / 1000;
  console.log(`${name}: ${seconds.toFixed(1)} s, ${Math.round(peak / 1024)} MiB, exit code ${code}`);
  if (code !== 0) console.log(await output);
}

const cluster = await TestCluster.start({ servers: 1 });
try {
  const given = join(cluster.directory, 'given.backup');
  const taken = join(cluster.directory, 'taken.backup');
  const to = ['--kubeconfig', cluster.first.kubeconfig];
  await forge(given);
  await measure('import', 'import', given, ...to, '--parallel', '48');
  await measure('import again', 'import', given, ...to);
  await measure('backup, verified', 'backup', ...to, '-o', taken);
  await measure('backup', 'backup', ...to, '-o', taken, '--verify=false');
  await measure('verify', 'backup', 'verify', taken);
  console.log(`${objects} objects, ${((await stat(taken)).size / 1024 / 1024).toFixed(1)} MiB`);
} finally {
  await cluster.stop();
}
