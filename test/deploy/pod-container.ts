import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Kubectl } from '../e2e/support/kubectl.js';
import { endWithUs, forgetFolder, removeWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';

interface Item {
  readonly key: string;
  readonly path: string;
}

/** The parts of a pod that {@link PodContainer} follows. */
export interface PodSpec {
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly env?: readonly { readonly name: string; readonly value?: string }[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly {
    readonly name: string;
    readonly emptyDir?: object;
    readonly secret?: { readonly secretName: string; readonly items: readonly Item[] };
    readonly configMap?: { readonly name: string; readonly items: readonly Item[] };
  }[];
}

/**
 * The first container of a pod as a process of this machine, with its arguments, and its volumes at their paths: in a mount
 * namespace of its own, with a copy of /etc. Needs Linux and root.
 */
export class PodContainer {
  log = '';
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;

  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
  ) {
    this.ended = once(process, 'close').then(([code]) => code as number | null);
    const note = (chunk: Buffer): void => {
      this.log = (this.log + chunk.toString()).slice(-20_000);
    };
    process.stdout?.on('data', note);
    process.stderr?.on('data', note);
  }

  /** @param podIp the value of POD_IP in the arguments */
  static start(kubectl: Kubectl, namespace: string, spec: PodSpec, podIp: string): PodContainer {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-container-'));
    removeWithUs(folder);
    const [container] = spec.containers;
    if (container === undefined) throw new Error('the pod has no container');
    const mounts = container.volumeMounts.map(({ name, mountPath }) => {
      const from = join(folder, 'volumes', name);
      mkdirSync(from, { recursive: true });
      for (const [path, content] of filesOf(kubectl, namespace, spec, name)) {
        mkdirSync(dirname(join(from, path)), { recursive: true });
        writeFileSync(join(from, path), content);
      }
      return { from, to: mountPath };
    });
    for (const name of ['upper', 'work']) mkdirSync(join(folder, name));
    const script = [
      'set -e',
      `mount -t tmpfs none "${join(folder, 'upper')}"`,
      `mkdir "${join(folder, 'upper', 'over')}" "${join(folder, 'upper', 'work')}"`,
      `mount -t overlay none -o "lowerdir=/etc,upperdir=${folder}/upper/over,workdir=${folder}/upper/work" /etc`,
      // Not /tmp: the volumes are there.
      ...mounts
        .filter(({ to }) => to !== '/tmp')
        .map(({ from, to }) => `mkdir -p "${to}" && mount --bind "${from}" "${to}"`),
      'exec "$@"',
    ].join('\n');
    const args = container.args.map((arg) => arg.replaceAll('$(POD_IP)', podIp));
    const child = spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', process.execPath, mainFile, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: folder },
    });
    endWithUs(child);
    return new PodContainer(child, folder);
  }

  /** Whether it has not ended. */
  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  async stop(): Promise<void> {
    if (this.isRunning) this.process.kill('SIGTERM');
    await this.ended;
    rmSync(this.folder, { recursive: true, force: true });
    forgetFolder(this.folder);
  }
}

/** Paths and contents of a volume. */
function filesOf(kubectl: Kubectl, namespace: string, spec: PodSpec, name: string): [string, Buffer][] {
  const volume = spec.volumes.find((one) => one.name === name);
  if (volume?.emptyDir !== undefined) return [];
  const kind = volume?.secret === undefined ? 'configmap' : 'secret';
  const [object, items] =
    volume?.secret === undefined
      ? [volume?.configMap?.name ?? '', volume?.configMap?.items ?? []]
      : [volume.secret.secretName, volume.secret.items];
  const { data } = JSON.parse(kubectl.ok(['-n', namespace, 'get', kind, object, '-o', 'json'])) as {
    readonly data: Readonly<Record<string, string>>;
  };
  return items.map(({ key, path }) => {
    const value = data[key];
    if (value === undefined) throw new Error(`${kind} ${object} has no ${key}`);
    return [path, Buffer.from(value, kind === 'secret' ? 'base64' : 'utf8')];
  });
}
