import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { systemTimers } from '../../../base/machinery/timers.js';
import { endEmptyShims } from './empty-shims.js';

export interface ContainerdOptions {
  /** Everything that it writes is here. */
  readonly folder: string;
  readonly pluginFolder: string;
  /** The image that holds the namespaces of a pod. */
  readonly pauseImage: string;
  readonly signal: AbortSignal;
}

/** The most bytes that the path of a socket can have, without the byte at its end. */
const mostSocketBytes = 107;
/** Where a machine keeps mirrors and authorities of registries for every containerd; it need not exist. */
const registryFolder = '/etc/containerd/certs.d';
const startMs = 60_000;
const stopMs = 10_000;
const pollMs = 50;
/** Ends containerd as soon as this process is gone, whatever ended it: the pipe then has an end. */
const supervisor =
  'exec 3<&0; containerd --config "$1" </dev/null 3<&- & pid=$!; { read -r line <&3; kill "$pid"; } 2>/dev/null & wait "$pid"';

/** A containerd of this process. */
export class PrivateContainerd {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  /** Where it is reached: `unix:///…`. */
  get endpoint(): string {
    return `unix://${socketIn(this.folder)}`;
  }

  /** @throws StartupError when it does not start */
  static async start({ folder, pluginFolder, pauseImage, signal }: ContainerdOptions): Promise<PrivateContainerd> {
    const socket = socketIn(folder);
    if (Buffer.byteLength(socket) > mostSocketBytes) {
      throw new StartupError(`${folder} is too long a path for the socket of containerd: give a shorter --data-dir`);
    }
    makeFolder(folder, 0o711);
    const log = join(folder, 'containerd.log');
    await writeFile(join(folder, 'config.toml'), await configuration(folder, pluginFolder, pauseImage));
    const output = await open(log, 'w', 0o600);
    const path = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`;
    const child = spawn('/bin/sh', ['-c', supervisor, 'plinth-containerd', join(folder, 'config.toml')], {
      // A Ctrl-C in the terminal must not end it before its containers have ended.
      detached: true,
      env: { ...process.env, PATH: path },
      stdio: ['pipe', output.fd, output.fd],
    });
    child.on('error', () => undefined);
    child.stdin?.on('error', () => undefined);
    await output.close();
    const containerd = new PrivateContainerd(child, folder);
    const end = systemTimers.elapsed() + startMs;
    while (!(await accepts(socket))) {
      if (child.exitCode !== null || signal.aborted || systemTimers.elapsed() > end) {
        await containerd.stop();
        throw new StartupError(`containerd did not start: see ${log}`);
      }
      await systemTimers.wait(pollMs, signal);
    }
    return containerd;
  }

  /** Containers that still run are not ended. */
  async stop(): Promise<void> {
    await this.end();
    await endEmptyShims(socketIn(this.folder));
  }

  private async end(): Promise<void> {
    this.child.stdin?.end();
    if (this.child.exitCode !== null || this.child.signalCode !== null || this.child.pid === undefined) return;
    const ended = once(this.child, 'exit');
    const limit = setTimeout(() => process.kill(-(this.child.pid ?? 0), 'SIGKILL'), stopMs);
    await ended;
    clearTimeout(limit);
  }
}

function socketIn(folder: string): string {
  return join(folder, 'containerd.sock');
}

function accepts(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', () => resolve(false));
  });
}

async function configuration(folder: string, pluginFolder: string, pauseImage: string): Promise<string> {
  const text = (value: string) => JSON.stringify(value);
  return `version = 2
root = ${text(join(folder, 'root'))}
state = ${text(join(folder, 'state'))}
[grpc]
  address = ${text(socketIn(folder))}
[plugins."io.containerd.internal.v1.opt"]
  path = ${text(join(folder, 'opt'))}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(pauseImage)}
  restrict_oom_score_adj = ${!(await mayLowerOomScore())}
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${text(pluginFolder)}
    conf_dir = ${text(join(folder, 'cni'))}
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = ${text(registryFolder)}
`;
}

/** Whether this process has the capability CAP_SYS_RESOURCE, without which a container is not made as asked. */
async function mayLowerOomScore(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return ((capabilities >> 24n) & 1n) === 1n;
}
