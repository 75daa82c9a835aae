import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../e2e/support/test-cluster.js';
import { removeCgroupEverywhere } from '../support/cgroups.js';
import { endWithUs } from '../support/child-guard.js';

/**
 * Where the machine shows what it has changed of the files that it began with: new and changed files, folders that have any, and a
 * character device for each file that is gone. The files that it began with are those of this machine, where others may work.
 */
export const changesFolder = '/changes';

const controllers = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids'];

/**
 * Makes the file system of the machine: that of this one, with all changes in memory, and without the services that are enabled here.
 * The first argument is a folder, the second one the repository.
 */
const inside = `
set -e
ip link set lo up
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay machine -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
root=$1/root
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
  mount -t tmpfs none "$root/sys/fs/cgroup"
  for one in ${controllers.join(' ')}; do
    [ -e "/sys/fs/cgroup/$one" ] || continue
    mkdir "$root/sys/fs/cgroup/$one"
    mount -t cgroup -o "$one" cgroup "$root/sys/fs/cgroup/$one"
  done
  mkdir "$root/sys/fs/cgroup/systemd"
  mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
fi
mount -t tmpfs none "$root/run"
mount -t tmpfs none "$root/tmp"
mount --rbind /dev "$root/dev"
mkdir -p "$root$2"
mount --rbind "$2" "$root$2"
mkdir "$root${changesFolder}"
mount --bind "$1/upper" "$root${changesFolder}"
rm -rf "$root"/etc/systemd/system/*.wants "$root/var/lib/plinth" "$root/etc/plinth"
for unit in systemd-udevd systemd-udev-trigger systemd-sysctl systemd-modules-load systemd-timesyncd; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
: > "$root/etc/machine-id"
hostname machine
cd "$root"
mkdir -p old
pivot_root . old
umount -l /old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=multi-user.target
`;

/** Moves itself into cgroups of its own, and starts what is above in new namespaces. */
const outside = `
set -e
for one in ${controllers.join(' ')} systemd unified .; do
  group=/sys/fs/cgroup/$one
  [ -e "$group/cgroup.procs" ] || continue
  mkdir -p "$group/$3"
  if [ "$one" = cpuset ]; then for file in cpus mems; do cat "$group/cpuset.$file" > "$group/$3/cpuset.$file"; done; fi
  echo $$ > "$group/$3/cgroup.procs"
done
exec unshare --mount --pid --fork --uts --ipc --net --cgroup --kill-child --propagation private sh -c "$4" sh "$1" "$2"
`;

/** What a command in the machine did. */
export interface CommandResult {
  readonly code: number;
  readonly output: string;
}

/** A machine whose first process is systemd: namespaces of its own, with the programs of this machine. Needs root. */
export class SystemdMachine {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly cgroup: string,
    /** Its first process, as this machine numbers it. */
    private readonly firstPid: number,
  ) {}

  /** @param repository the folder that commands in the machine run from, by its own path */
  static async start(repository: string): Promise<SystemdMachine> {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-machine-'));
    const cgroup = `plinth-machine-${process.pid}`;
    const child = spawn('sh', ['-c', outside, 'sh', folder, repository, cgroup, inside], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    endWithUs(child);
    const firstPid = await eventually(() => firstProcessOf(child.pid as number), 'the first process', 60_000);
    const machine = new SystemdMachine(child, folder, cgroup, firstPid);
    const states = /running|degraded/;
    await eventually(
      async () => states.test((await machine.run('systemctl', 'is-system-running')).output),
      'systemd',
      60_000,
    );
    return machine;
  }

  /** Runs a command to its end. */
  run(...command: readonly string[]): Promise<CommandResult> {
    return new Promise((resolve) => {
      execFile('nsenter', this.arguments(command), { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : 1;
        resolve({ code, output: `${stdout}${stderr}` });
      });
    });
  }

  /** Starts a command in a process group of its own, so that it can be killed with everything that it has started. */
  spawn(...command: readonly string[]): ChildProcess {
    const child = spawn('nsenter', this.arguments(command), { stdio: 'ignore', detached: true });
    endWithUs(child);
    return child;
  }

  async stop(): Promise<void> {
    // A machine that was shut down has ended by itself.
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit');
      if (existsSync(`/proc/${this.firstPid}`)) process.kill(this.firstPid, 'SIGKILL');
      await ended;
    }
    rmdirSync(this.folder);
    await removeCgroupEverywhere(this.cgroup);
  }

  private arguments(command: readonly string[]): string[] {
    const environment = ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'TERM=dumb'];
    return ['-t', String(this.firstPid), '-a', 'env', '-i', ...environment, ...command];
  }
}

/** The child of a process that has become systemd: before, there are programs that prepare the machine. */
function firstProcessOf(pid: number): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  if (child === undefined || child === '') return undefined;
  try {
    return readFileSync(`/proc/${child}/comm`, 'utf8').trim() === 'systemd' ? Number(child) : undefined;
  } catch {
    return undefined;
  }
}
