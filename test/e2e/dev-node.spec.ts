import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { endWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { unlessThere } from '../support/needs.js';
import { busyboxImage, containerdNeeds, importTestImages, pauseImage } from '../support/test-containerd.js';
import { eventually } from './support/test-cluster.js';

const run = promisify(execFile);
const needs = [...containerdNeeds, 'kubectl', 'unshare', 'nsenter', 'nft', 'ip'];

describe('dev with a node', { skip: unlessThere('dev with a node', needs) }, () => {
  /** A process in a network of its own, which stands for a machine: rules and bridges are made there. */
  let machine: ChildProcess;
  let folder: string;
  let child: ChildProcess;
  let said = '';
  const inside = (program: string, ...args: string[]) =>
    run('nsenter', ['-t', String(machine.pid), '-n', program, ...args], { timeout: 60_000 });
  const kubectl = async (...args: string[]) =>
    (await inside('kubectl', `--kubeconfig=${join(folder, 'admin.kubeconfig')}`, ...args)).stdout;
  const ctr = (args: readonly string[]) =>
    run('ctr', ['-a', join(folder, 'node', 'containerd', 'containerd.sock'), '-n', 'k8s.io', ...args]);

  before(async () => {
    // Outside the runner's folder: mounts that a killed test leaves behind would be in its way.
    folder = await fs.mkdtemp('/var/tmp/plinth-dev-node-');
    machine = spawn('unshare', ['-n', 'sleep', '2147483647'], { stdio: 'ignore' });
    endWithUs(machine);
    await eventually(
      async () => (await fs.readlink(`/proc/${machine.pid}/ns/net`)) !== (await fs.readlink('/proc/self/ns/net')),
      'a network',
    );
    await inside('ip', 'link', 'set', 'lo', 'up');
    await inside('ip', 'link', 'add', 'outside', 'type', 'veth', 'peer', 'name', 'beyond');
    await inside('ip', 'addr', 'add', '192.0.2.7/24', 'dev', 'outside');
    for (const name of ['outside', 'beyond']) await inside('ip', 'link', 'set', name, 'up');
    await inside('ip', 'route', 'add', 'default', 'via', '192.0.2.1');
    const flags = [
      '--node',
      `--data-dir=${folder}`,
      '--compat=kubernetes',
      `--pod-infra-container-image=${pauseImage}`,
    ];
    const args = ['-t', String(machine.pid), '-n', process.execPath, mainFile, 'dev', ...flags, '--console-port=0'];
    const { PLINTH_DATABASE_URL: _none, ...env } = process.env;
    child = spawn('nsenter', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    endWithUs(child);
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (chunk: Buffer) => {
          said += String(chunk);
          if (said.includes('Try:')) resolve();
        });
      }
      child.once('exit', (code) => reject(new Error(`dev ended with ${code}: ${said}`)));
    });
    await importTestImages(join(folder, 'images'), ctr);
  });
  after(async () => {
    if (child !== undefined && child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    machine?.kill();
    if (folder !== undefined) await fs.rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  it('runs a deployment that answers by the name of its service', async () => {
    const serve = 'mkdir -p /www; echo hello > /www/index.html; exec httpd -f -p 8080 -h /www';
    await kubectl('create', 'deployment', 'web', `--image=${busyboxImage}`, '--replicas=2', '--', 'sh', '-c', serve);
    await kubectl('expose', 'deployment', 'web', '--port=80', '--target-port=8080');
    await kubectl('run', 'asker', `--image=${busyboxImage}`, '--restart=Never', '--', 'sleep', '2147483647');
    await kubectl('wait', 'deployment/web', '--for=condition=Available', '--timeout=50s');
    await kubectl('wait', 'pod/asker', '--for=condition=Ready', '--timeout=50s');
    const shell = (script: string) => kubectl('exec', 'asker', '--', 'sh', '-c', script);
    const settings = await shell('cat /etc/resolv.conf');
    assert.match(settings, /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local/m);
    const server = /^nameserver (\S+)$/m.exec(settings)?.[1] ?? '';
    const address = (await kubectl('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}')).trim();
    assert.equal(server, '10.0.0.10');
    assert.ok((await shell('nslookup web.default.svc.cluster.local')).includes(`Address: ${address}`));
    // Without a probe, a container is available before its server listens.
    await eventually(
      async () =>
        (await shell(`printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 5 ${address} 80 || true`)).includes('hello'),
      'an answer of the deployment',
    );
  });

  it('follows network policies', async () => {
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'nobody' },
      spec: { podSelector: { matchLabels: { app: 'web' } }, ingress: [] },
    };
    const file = join(folder, 'policy.json');
    await fs.writeFile(file, JSON.stringify(policy));
    const script = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 2 web 80 | grep -q hello && echo reached || echo refused`;
    const ask = () => kubectl('exec', 'asker', '--', 'sh', '-c', script);
    await eventually(async () => (await ask()).trim() === 'reached', 'an answer before there is a policy');
    await kubectl('create', '-f', file);
    await eventually(async () => (await ask()).trim() === 'refused', 'a policy that is in force');
  });

  it('starts without a refusal of its own parts', () => {
    assert.doesNotMatch(said, /forbidden/);
  });

  it('ends everything that it started, and leaves nothing on the machine', async () => {
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    assert.deepEqual(await ended, [0, null], said);
    const mounts = await fs.readFile('/proc/self/mountinfo', 'utf8');
    assert.ok(!mounts.includes(folder), 'no mounts');
    assert.equal((await inside('nft', 'list', 'tables')).stdout.trim(), '');
    assert.doesNotMatch((await inside('ip', '-o', 'link')).stdout, /plinth0|veth[0-9a-f]/);
    const processes = (await run('ps', ['-eo', 'args'])).stdout.split('\n').filter((line) => line.includes(folder));
    assert.deepEqual(processes, []);
    const cgroups = await run('find', ['/sys/fs/cgroup', '-maxdepth', '2', '-name', 'plinth-6443']);
    assert.equal(cgroups.stdout, '');
  });
});
