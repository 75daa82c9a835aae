// Shuts down a machine with systemd on which `plinth init` and `plinth join` run a node with real containers: the shutdown must wait
// until all pods have ended, the least important first, and the API must have recorded that. As root, where Debian's systemd, dbus and
// containerd are installed: `npm run check:systemd-shutdown`.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../e2e/support/test-cluster.js';
import { busyboxImage, importTestImages, pauseImage } from '../support/test-containerd.js';
import { SystemdMachine } from './systemd-machine.js';

const repository = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const program = [process.execPath, `${repository}/bin/plinth.js`];
const kubectl = ['kubectl', '--kubeconfig=/etc/plinth/admin.kubeconfig'];
const patienceMs = 180_000;
/** The pods and their priorities, in the order of their ends. */
const pods = [
  ['ordinary', undefined],
  ['important', 'important'],
  ['critical', 'system-node-critical'],
] as const;

const containerd = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
`;
const nodeSettings = `PLINTH_SHUTDOWN_GRACE_PERIOD_BY_POD_PRIORITY=0=20s,1000=20s,2000000000=10s
PLINTH_NODE_IP=127.0.0.1
PLINTH_FAIL_SWAP_ON=false
PLINTH_EVICTION_HARD=memory.available<0%
`;

describe('the shutdown of a node with systemd', { timeout: 900_000 }, () => {
  let machine: SystemdMachine;

  /** Runs a command in the machine, which must succeed. */
  async function done(...command: readonly string[]): Promise<string> {
    const { code, output } = await machine.run(...command);
    assert.equal(code, 0, `${command.join(' ')}: ${output}`);
    return output;
  }

  const write = (path: string, text: string) =>
    done('sh', '-c', 'mkdir -p "$(dirname "$1")" && printf %s "$2" > "$1"', 'sh', path, text);

  async function apply(object: object): Promise<void> {
    await write('/tmp/object.json', JSON.stringify(object));
    await done(...kubectl, 'apply', '-f', '/tmp/object.json');
  }

  const pod = (nodeName: string, name: string, priorityClassName: string | undefined) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system' },
    spec: {
      ...{ nodeName, hostNetwork: true, automountServiceAccountToken: false, priorityClassName },
      tolerations: [{ operator: 'Exists' }],
      containers: [
        {
          name: 'main',
          image: busyboxImage,
          command: ['sh', '-c', 'trap "sleep 3; exit 0" TERM; while true; do sleep 0.1; done'],
        },
      ],
    },
  });

  /** Prints columns of objects whenever they change, until the machine is gone. */
  const watch = async (kind: string, columns: string) => {
    const flags = ['-n', 'kube-system', '--watch', '--no-headers', `--output=custom-columns=${columns}`];
    return (await machine.run(...kubectl, 'get', kind, ...flags)).output.split('\n').map((line) => line.trim());
  };

  before(async () => {
    machine = await SystemdMachine.start(repository);
    // The file system of the machine can't hold those of containers.
    await done('mkdir', '-p', '/var/lib/containerd');
    await done('mount', '-t', 'tmpfs', 'none', '/var/lib/containerd');
    // With the first version of cgroups, systemd makes an empty folder where programs look for two controllers.
    const group = '/sys/fs/cgroup';
    await done(
      ...[
        'sh',
        '-c',
        `cd ${group}; [ ! -d cpu,cpuacct ] || { mount -o remount,rw .; rmdir cpu,cpuacct; ln -s cpu cpu,cpuacct; }`,
      ],
    );
    await write('/etc/containerd/config.toml', containerd);
    await done('systemctl', 'start', 'containerd');
    const images = join(repository, 'dist', `shutdown-images-${process.pid}`);
    try {
      await importTestImages(images, (args) => done('ctr', '-n', 'k8s.io', ...args));
    } finally {
      rmSync(images, { recursive: true, force: true });
    }
    const init = await done(
      ...program,
      ...['init', '--apiserver-advertise-address=127.0.0.1', '--pod-network-cidr=10.244.0.0/16'],
    );
    await write('/etc/plinth/node.env', nodeSettings);
    const command = /plinth (join [\s\S]*?sha256:\w+)/.exec(init)?.[1] ?? '';
    await done(...program, ...command.replaceAll('\\\n', ' ').split(/\s+/));
    await apply({
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'important' },
      value: 5000,
    });
    const nodeName = (await done('hostname')).trim();
    for (const [name, priority] of pods) await apply(pod(nodeName, name, priority));
    for (const [name] of pods) {
      const phase = [...kubectl, 'get', 'pod', '-n', 'kube-system', name, '-o', 'jsonpath={.status.phase}'];
      await eventually(async () => (await machine.run(...phase)).output === 'Running', `${name} runs`, patienceMs);
    }
  });

  after(() => machine?.stop());

  it('waits for the pods, which end by priority, and leaves their statuses in the API', async () => {
    const locks = ['systemd-inhibit', '--list', '--no-pager'];
    await eventually(
      async () => /plinth node .*shutdown .*delay/.test((await machine.run(...locks)).output),
      'the lock',
      patienceMs,
    );
    const time = 'END:.status.containerStatuses[0].state.terminated.finishedAt';
    const watches = Promise.all([
      watch('pods', `NAME:.metadata.name,PHASE:.status.phase,REASON:.status.reason,${time},MESSAGE:.status.message`),
      watch(
        'nodes',
        'CONDITIONS:.status.conditions[?(@.type=="Ready")].status,M:.status.conditions[?(@.type=="Ready")].message',
      ),
    ]);
    await done('systemctl', 'poweroff');
    const [ofPods, ofNodes] = await watches;
    const ends = pods.map(([name]) => {
      const last = ofPods.findLast((line) => line.startsWith(`${name} `)) ?? '';
      const [, phase, reason, end = '', ...message] = last.split(/\s+/);
      assert.deepEqual([phase, reason], ['Failed', 'Terminated'], ofPods.join('\n'));
      assert.equal(message.join(' '), 'Pod was terminated in response to imminent node shutdown.');
      return Date.parse(end);
    });
    console.log(ofPods.join('\n'), ofNodes.join('\n'));
    // Each takes three seconds to end.
    for (const [i, end] of ends.slice(1).entries()) assert.ok(end - (ends[i] as number) >= 2_000, String(ends));
    assert.ok(
      ofNodes.some((line) => /^False +node is shutting down$/.test(line)),
      ofNodes.join('\n'),
    );
  });
});
