import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CriRuntime } from '../../src/nodes/agent/cri/cri-runtime.js';
import { senderTable } from '../../src/nodes/agent/network/sender-rules.js';
import { removeCgroupEverywhere } from './cgroups.js';
import { endWithUs } from './child-guard.js';

const run = promisify(execFile);

/**
 * Programs that tests with real containers need: Debian's containerd, runc, containernetworking-plugins and
 * busybox-static.
 */
export const containerdNeeds = ['root', 'containerd', 'runc', 'ctr', 'tar', '/bin/busybox', '/usr/lib/cni/bridge'];

/** The image of all tests: busybox with links to all its programs. */
export const busyboxImage = 'plinth.test/busybox:1';
/** An image whose command sleeps. */
export const pauseImage = 'plinth.test/pause:1';

/** A private containerd with images that are made here, so that no registry is needed. */
export class TestContainerd {
  private constructor(
    readonly folder: string,
    private readonly bridge: string,
    private child: ChildProcess,
  ) {}

  get endpoint(): string {
    return `unix://${join(this.folder, 'containerd.sock')}`;
  }

  /** A name for the cgroup of an agent's pods, which {@link stop} removes in every hierarchy. */
  get cgroupRoot(): string {
    return `plinth-test-${this.bridge}`;
  }

  /** The flags of an agent that configures the network of its pods itself, for a runtime without one. */
  get networkFlags(): readonly string[] {
    return [`--cni-conf-dir=${join(this.folder, 'cni')}`, `--cni-bridge=${this.bridge}`, `--pod-cidr=${podRange()}`];
  }

  /** With this begin the addresses of pods. */
  get addressPrefix(): string {
    return podRange().replace(/0\/24$/, '');
  }

  /** @param hasNetwork false: {@link networkFlags} are needed */
  static async start({ hasNetwork = true } = {}): Promise<TestContainerd> {
    // The folder is outside the runner's folder for test files, since mounts that a killed test leaves behind would be
    // in its way.
    const folder = await fs.mkdtemp('/var/tmp/plinth-containerd-');
    const bridge = `pl${process.pid}`.slice(0, 15);
    await fs.mkdir(join(folder, 'cni'), { recursive: true });
    await fs.writeFile(join(folder, 'config.toml'), configuration(folder));
    if (hasNetwork) {
      await fs.writeFile(join(folder, 'cni', '10-test.conflist'), JSON.stringify(network(folder, bridge)));
    }
    const containerd = new TestContainerd(folder, bridge, startProgram(folder));
    await containerd.untilReady();
    await importTestImages(join(folder, 'image'), (args) => containerd.ctr(args));
    return containerd;
  }

  /** Kills the runtime and starts it again; containers keep running. */
  async restart(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
    this.child = startProgram(this.folder);
    await this.untilReady();
  }

  private async untilReady(): Promise<void> {
    for (let i = 0; ; i++) {
      try {
        await this.ctr(['version']);
        return;
      } catch (error) {
        if (i > 300 || this.child.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  async ctr(args: readonly string[]): Promise<string> {
    const all = ['-a', join(this.folder, 'containerd.sock'), '-n', 'k8s.io', ...args];
    return (await run('ctr', all)).stdout;
  }

  /** Ids of all containers and sandboxes. */
  async containers(): Promise<string[]> {
    return (await this.ctr(['containers', 'ls', '-q'])).split('\n').filter((line) => line !== '');
  }

  /** Ids of the containers and sandboxes of pods with this name. */
  async containersOf(podName: string): Promise<string[]> {
    const filter = `labels."io.kubernetes.pod.name"==${podName}`;
    return (await this.ctr(['containers', 'ls', '-q', filter])).split('\n').filter((line) => line !== '');
  }

  /** The names of the pods of containers and sandboxes that run, one for each. */
  async runningPods(): Promise<string[]> {
    const tasks = (await this.ctr(['tasks', 'ls'])).split('\n').filter((line) => line.includes('RUNNING'));
    const names: string[] = [];
    for (const line of tasks) {
      const info = JSON.parse(await this.ctr(['containers', 'info', line.split(/\s+/)[0] ?? '']));
      names.push(info.Labels['io.kubernetes.pod.name']);
    }
    return names;
  }

  /** The runtime's helper processes that hold containers: their ids, and the processes that each has started. */
  async shims(): Promise<ReadonlyMap<number, readonly number[]>> {
    const found = new Map<number, number[]>();
    const parents = new Map<number, number>();
    for (const id of (await fs.readdir('/proc')).map(Number)) {
      if (!Number.isInteger(id)) continue;
      const line = await fs.readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
      if (line.includes('containerd-shim') && line.includes(this.folder)) found.set(id, []);
      const values = (await fs.readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')).split(') ').at(-1);
      parents.set(id, Number(values?.split(' ')[1]));
    }
    for (const [id, parent] of parents) found.get(parent)?.push(id);
    return found;
  }

  /** Ends all processes, and removes everything, also what network plugins keep outside of the folder. */
  async stop(): Promise<void> {
    await this.removeSandboxes().catch(() => undefined);
    for (const id of await this.containers().catch(() => [])) {
      await this.ctr(['tasks', 'rm', '-f', id]).catch(() => undefined);
      await this.ctr(['containers', 'rm', id]).catch(() => undefined);
    }
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
    for (const id of (await this.shims()).keys()) kill(id);
    const table = await fs.readFile('/proc/self/mountinfo', 'utf8');
    const mounts = table
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(`${this.folder}/`));
    for (const path of mounts.reverse()) await run('umount', ['-l', path]).catch(() => undefined);
    await run('ip', ['link', 'delete', this.bridge]).catch(() => undefined);
    // An agent has put it there, if it has made the network.
    await run('nft', ['delete', 'table', 'bridge', senderTable(this.bridge)]).catch(() => undefined);
    await fs.rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
    await removeCgroupEverywhere(this.cgroupRoot);
  }

  /** Only the runtime gives back the network of a pod: its namespace, its address, and the notes of the plugins. */
  private async removeSandboxes(): Promise<void> {
    const runtime = await CriRuntime.open(this.endpoint, this.endpoint, sandboxMs);
    try {
      const remove = async (id: string) => {
        await runtime.stopSandbox(id);
        await runtime.removeSandbox(id);
      };
      await Promise.allSettled((await runtime.listSandboxes()).map(({ id }) => remove(id)));
    } finally {
      runtime.close();
    }
  }
}

/** How long the runtime may take to stop or to remove a sandbox. */
const sandboxMs = 60_000;

/** Makes the images of tests in a folder, which is removed, and imports them by `ctr`. */
export async function importTestImages(
  folder: string,
  ctr: (args: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const root = join(folder, 'root');
  for (const name of ['bin', 'etc', 'tmp', 'proc', 'sys', 'dev', 'root', 'var']) {
    await fs.mkdir(join(root, name), { recursive: true });
  }
  await fs.copyFile('/bin/busybox', join(root, 'bin', 'busybox'));
  const programs = (await run('/bin/busybox', ['--list'])).stdout.split('\n');
  for (const program of programs) {
    if (program !== '' && program !== 'busybox') await fs.symlink('busybox', join(root, 'bin', program));
  }
  await fs.chmod(join(root, 'tmp'), 0o1777);
  await fs.writeFile(join(root, 'etc', 'passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  await fs.writeFile(join(root, 'etc', 'group'), 'root:x:0:\n');
  await run('tar', ['--numeric-owner', '--owner=0', '--group=0', '-C', root, '-cf', join(folder, 'layer.tar'), '.']);
  const digest = createHash('sha256')
    .update(await fs.readFile(join(folder, 'layer.tar')))
    .digest('hex');
  for (const [name, command] of [
    [busyboxImage, ['/bin/sh']],
    [pauseImage, ['/bin/sleep', '2147483647']],
  ] as const) {
    const config = {
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Env: ['PATH=/bin'], Cmd: command },
      rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
      history: [{ created_by: 'a test' }],
    };
    const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }];
    await fs.writeFile(join(folder, 'config.json'), JSON.stringify(config));
    await fs.writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
    const image = join(folder, 'image.tar');
    await run('tar', ['-C', folder, '-cf', image, 'config.json', 'manifest.json', 'layer.tar']);
    await ctr(['images', 'import', image]);
  }
  await fs.rm(folder, { recursive: true, force: true });
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function startProgram(folder: string): ChildProcess {
  const child = spawn('containerd', ['-c', join(folder, 'config.toml')], { stdio: 'ignore' });
  endWithUs(child);
  return child;
}

function configuration(folder: string): string {
  return `version = 2
root = "${folder}/root"
state = "${folder}/state"
[grpc]
  address = "${folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
`;
}

/** The addresses of pods in tests of this process. */
function podRange(): string {
  return `10.203.${process.pid % 250}.0/24`;
}

function network(folder: string, bridge: string): object {
  const ranges = [[{ subnet: podRange() }]];
  const ipam = { type: 'host-local', dataDir: join(folder, 'addresses'), ranges, routes: [{ dst: '0.0.0.0/0' }] };
  return {
    cniVersion: '0.4.0',
    name: bridge,
    plugins: [{ type: 'bridge', bridge, isGateway: true, ipMasq: false, ipam }],
  };
}
