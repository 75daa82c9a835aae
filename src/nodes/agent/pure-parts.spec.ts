import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decode } from '../../base/machinery/schema/index.js';
import { pod as podType } from '../../objects/apis/core/v1/pod.types.js';
import { weightOf } from './containers/cgroups.js';
import { expand } from './containers/expand.js';
import { dnsConfigOf, hostNamesOf, hostsFile, readResolvConf } from './containers/host-files.js';
import { cpuQuota, cpuShares, linuxResourcesOf, podAmounts } from './containers/resources.js';
import { serviceEnvironment } from './containers/service-environment.js';
import { sysctlName } from './containers/sysctl-name.js';
import { refuseUserNamespace } from './containers/user-namespace.js';
import { containerStates, containerStatus, listContainersResponse } from './cri/container-messages.js';
import type { ContainerRuntime } from './cri/container-runtime.js';
import { linuxResources, sandboxConfig } from './cri/sandbox-messages.js';
import { DiskLimits, diskUse } from './housekeeping/disk-limits.js';
import { podToEvict, readThreshold, shortages } from './housekeeping/eviction.js';
import { Pressures } from './housekeeping/pressures.js';
import { Shortages } from './housekeeping/shortages.js';
import { imageNameProblem, parseImageName } from './images/image-names.js';
import { pullCredentials } from './images/pull-secrets.js';
import { PodFolders } from './pod-folders.js';
import { BackOff } from './pods/back-off.js';
import { admissionProblem } from './pods/pod-admission.js';
import { podPhase } from './pods/pod-phase.js';
import { ProbeState } from './probes/probe-state.js';
import { RuntimeHealth } from './runtime-health.js';
import { agentSubresourcesOf } from './server/agent-authorization.js';
import { readLog } from './server/log-reader.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';

function podOf(spec: object, metadata: object = {}) {
  const own = { name: 'web', namespace: 'default', uid, ...metadata };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata: own, spec: { containers: [], ...spec } }).value;
}

const app = (resources: object = {}) => ({ name: 'app', image: 'a', resources });

describe('expand', () => {
  it('replaces references with values and leaves the others, and $$ stands for $', () => {
    const values: Record<string, string> = { A: '1', B: '$(A)' };
    const cases = [
      ['$(A)-$(B)', '1-$(A)'],
      ['$$(A) $$$(A)', '$(A) $1'],
      ['$(NONE) $(A', '$(NONE) $(A'],
      ['$A $', '$A $'],
      ['', ''],
    ] as const;
    for (const [text, wanted] of cases)
      assert.equal(
        expand(text, (name) => values[name]),
        wanted,
        text,
      );
  });
});

describe('BackOff', () => {
  it('has no pause at first, doubles up to the longest, and begins anew after a quiet time', () => {
    const backOff = new BackOff(10_000, 300_000);
    assert.equal(backOff.endAfter('a', 0), undefined);
    const pauses = Array.from({ length: 7 }, (_, i) => {
      backOff.next('a', i);
      return backOff.pauseMs('a') / 1000;
    });
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300]);
    assert.equal(backOff.endAfter('a', 1000), 301_000);
    assert.equal(backOff.endAfter('a', 601_000), undefined);
    backOff.next('a', 700_000);
    assert.equal(backOff.pauseMs('a'), 10_000);
    backOff.forget('a');
    assert.equal(backOff.endAfter('a', 700_000), undefined);
  });
});

describe('ProbeState', () => {
  it('changes after as many same results in a row as the probe demands', () => {
    const state = new ProbeState({ failureThreshold: 2, successThreshold: 3 }, 'success');
    assert.deepEqual([state.take('failure'), state.take('success'), state.take('failure')], [false, false, false]);
    assert.equal(state.take('failure'), true);
    assert.equal(state.verdict, 'failure');
    assert.deepEqual([state.take('success'), state.take('success'), state.take('success')], [false, false, true]);
  });
});

describe('resources of containers', () => {
  it('become shares, quotas and scores of the kernel', () => {
    assert.deepEqual([cpuShares(0), cpuShares(100), cpuShares(1000)], [2, 102, 1024]);
    assert.deepEqual([cpuQuota(0, 100_000), cpuQuota(500, 100_000), cpuQuota(1, 100_000)], [0, 50_000, 1000]);
    assert.deepEqual([weightOf(2), weightOf(1024), weightOf(262_144)], [1, 39, 10_000]);
    const settings = { cfsQuota: true, cfsQuotaPeriodMs: 100, memoryCapacity: 1000 * 2 ** 20 };
    const of = (resources: object) => {
      const pod = podOf({ containers: [app(resources)] });
      return linuxResourcesOf(pod, (pod.spec.containers ?? [])[0] as never, settings).oomScoreAdj;
    };
    assert.equal(of({}), 1000);
    assert.equal(of({ requests: { memory: '100Mi' } }), 900);
    assert.equal(of({ limits: { cpu: '1', memory: '100Mi' } }), -997);
    assert.equal(of({ requests: { memory: '1000Mi' } }), 3);
  });

  it('of a pod are limited only if all containers are', () => {
    const limited = { limits: { cpu: '1', memory: '1Mi' } };
    const both = podAmounts(podOf({ containers: [app(limited), { ...app(limited), name: 'b' }] }));
    assert.deepEqual(both, { cpuRequestMilli: 2000, cpuLimitMilli: 2000, memoryLimit: 2 * 2 ** 20 });
    assert.equal(podAmounts(podOf({ containers: [app(limited), { ...app(), name: 'b' }] })).memoryLimit, undefined);
  });
});

describe('messages of the runtime interface', () => {
  it('come back as they were written, negative and large numbers too', () => {
    const written = { cpuQuota: -1, oomScoreAdj: -997, memoryLimitInBytes: 2 ** 40, unified: { a: 'b' } };
    assert.deepEqual(linuxResources.decode(linuxResources.encode(written)), {
      ...{ cpuPeriod: 0, cpuShares: 0, cpusetCpus: '', cpusetMems: '', hugepageLimits: [], memorySwapLimitInBytes: 0 },
      ...written,
    });
    const config = { metadata: { name: 'n', uid, namespace: 'd', attempt: 3 }, labels: { x: 'y' } };
    const read = sandboxConfig.decode(sandboxConfig.encode(config));
    assert.deepEqual([read.metadata, read.labels, read.linux], [config.metadata, config.labels, undefined]);
  });

  it('are refused when they say more than a machine can have, in a time that grows with their length', () => {
    const entries = (count: number, entry: readonly number[]) =>
      Buffer.concat(Array.from({ length: count }, () => Buffer.from(entry)));
    assert.equal(listContainersResponse.decode(entries(100_000, [10, 0])).containers.length, 100_000);
    assert.throws(() => listContainersResponse.decode(entries(100_001, [10, 0])), /more than 100000 entries/);
    const labels = Buffer.concat(
      Array.from({ length: 20_000 }, (_, i) => {
        const key = `k${String(i).padStart(6, '0')}`;
        return Buffer.concat([Buffer.from([98, 9, 10, 7]), Buffer.from(key)]);
      }),
    );
    assert.equal(Object.keys(containerStatus.decode(labels).labels).length, 20_000);
  });

  it('skip fields of another form than declared, and no more than so many groups in groups', () => {
    // The id as a number, then as a text; a group that is not declared.
    assert.equal(containerStatus.decode(Buffer.from([8, 7, 10, 1, 65, 11, 8, 1, 12])).id, 'A');
    for (const bytes of [
      Buffer.alloc(1_000_000, 11),
      Buffer.from([10, 200]),
      Buffer.from([12]),
      Buffer.from([255, 255]),
    ])
      assert.throws(() => listContainersResponse.decode(bytes));
  });

  it('have their zeros where nothing was written, and skip what is not declared', () => {
    const unknown = Buffer.from([0xfa, 0x07, 0x01, 0x41, 0x18, 0x02]);
    const status = containerStatus.decode(unknown);
    assert.deepEqual(
      [status.state, status.exitCode, status.labels, status.image],
      [containerStates.exited, 0, {}, undefined],
    );
  });
});

describe('files of hosts and lookups', () => {
  const pod = podOf({
    hostname: 'h',
    subdomain: 's',
    hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }],
    dnsPolicy: 'ClusterFirst',
  });

  it('name the pod and its aliases', () => {
    const names = hostNamesOf(pod, 'node', 'cluster.local');
    assert.deepEqual(names, { hostname: 'h', domain: 's.default.svc.cluster.local' });
    const text = hostsFile(pod, names, ['10.0.0.5'], undefined);
    assert.match(text, /^10\.0\.0\.5\th\.s\.default\.svc\.cluster\.local\th$/m);
    assert.match(text, /^1\.2\.3\.4\ta\tb$/m);
  });

  it('ask the servers of the cluster, or those of the machine', () => {
    const machine = readResolvConf('nameserver 9.9.9.9\nsearch x.y.\n# z\noptions timeout:1\n');
    assert.deepEqual(machine, { servers: ['9.9.9.9'], searches: ['x.y'], options: ['timeout:1'] });
    assert.deepEqual(dnsConfigOf(pod, ['10.96.0.10'], 'c.l', machine), {
      servers: ['10.96.0.10'],
      searches: ['default.svc.c.l', 'svc.c.l', 'c.l', 'x.y'],
      options: ['ndots:5'],
    });
    assert.deepEqual(dnsConfigOf(pod, [], 'c.l', machine), machine);
    const own = podOf({
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['1.1.1.1'], options: [{ name: 'ndots', value: '2' }] },
    });
    assert.deepEqual(dnsConfigOf(own, [], '', machine), { servers: ['1.1.1.1'], searches: [], options: ['ndots:2'] });
  });

  it('tell containers of services by their environment', () => {
    const service = {
      metadata: { name: 'my-db' },
      spec: { clusterIP: '10.0.0.9', ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }] },
    };
    const headless = { metadata: { name: 'x' }, spec: { clusterIP: 'None', ports: [{ port: 1 }] } };
    const found = serviceEnvironment([service, headless] as never);
    assert.equal(found.get('MY_DB_SERVICE_HOST'), '10.0.0.9');
    assert.equal(found.get('MY_DB_SERVICE_PORT_SQL'), '5432');
    assert.equal(found.get('MY_DB_PORT_5432_TCP'), 'tcp://10.0.0.9:5432');
    assert.equal(
      [...found.keys()].some((name) => name.startsWith('X_')),
      false,
    );
  });
});

describe('the phase of a pod', () => {
  const status = (name: string, state: object, lastState: object = {}) =>
    ({ name, state, lastState, ready: false, started: false }) as never;
  const ended = (exitCode: number) => ({ terminated: { exitCode } });
  const of = (spec: object, inits: never[], apps: never[], isOver = false) =>
    podPhase({ pod: podOf(spec), inits, apps, isOver });

  it('follows from its containers and its restart policy', () => {
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', { waiting: {} })]), 'Pending');
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', { running: {} })]), 'Running');
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', { waiting: {} }, ended(1))]), 'Running');
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', ended(1))]), 'Running');
    assert.equal(of({ restartPolicy: 'Never' }, [], [status('a', ended(1))]), 'Failed');
    assert.equal(of({ restartPolicy: 'Never' }, [], [status('a', ended(0))]), 'Succeeded');
    assert.equal(of({ restartPolicy: 'OnFailure' }, [], [status('a', ended(1))]), 'Running');
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', ended(0))], true), 'Succeeded');
    const again = { exitCodes: { operator: 'In', values: [1] } };
    for (const action of ['Restart', 'RestartAllContainers']) {
      const own = { restartPolicy: 'Never', restartPolicyRules: [{ action, ...again }] };
      const spec = { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a', ...own }] };
      assert.equal(of(spec, [], [status('a', ended(1))]), 'Running', action);
      assert.equal(of(spec, [], [status('a', ended(2))]), 'Failed', action);
    }
    const init = { initContainers: [{ name: 'i', image: 'i' }] };
    // A container that was removed because the whole pod starts anew does not count as failed.
    const removed = { terminated: { exitCode: 137, reason: 'RestartingAllContainers' } };
    const waiting = (name: string) => status(name, { waiting: {} }, removed);
    assert.equal(of({ ...init, restartPolicy: 'Never' }, [waiting('i')], [waiting('a')]), 'Running');
    assert.equal(
      of({ ...init, restartPolicy: 'Never' }, [status('i', ended(1))], [status('a', { waiting: {} })]),
      'Failed',
    );
    assert.equal(
      of({ ...init, restartPolicy: 'Always' }, [status('i', ended(1))], [status('a', { waiting: {} })]),
      'Pending',
    );
  });
});

describe('sysctlName', () => {
  it('has dots between its parts, whichever separator comes first', () => {
    for (const [name, wanted] of [
      ['kernel.shm_rmid_forced', 'kernel.shm_rmid_forced'],
      ['kernel/shm_rmid_forced', 'kernel.shm_rmid_forced'],
      ['net.ipv4.conf.eth0/1.rp_filter', 'net.ipv4.conf.eth0/1.rp_filter'],
      ['net/ipv4/conf/eth0.1/rp_filter', 'net.ipv4.conf.eth0/1.rp_filter'],
      ['', ''],
    ] as const) {
      assert.equal(sysctlName(name), wanted);
    }
  });
});

describe('admission by the node', () => {
  const node = { labels: { a: 'b' }, taints: [], allocatable: { cpu: '1', memory: '1Gi', pods: '2' } };
  const reason = (spec: object, others: object[] = []) =>
    admissionProblem(
      podOf(spec),
      others.map((each) => podOf(each)),
      node,
    )?.reason;

  it('refuses what does not fit, with a reason', () => {
    assert.equal(reason({}), undefined);
    assert.equal(reason({ nodeSelector: { a: 'c' } }), 'NodeAffinity');
    assert.equal(reason({ os: { name: 'windows' } }), 'PodOSNotSupported');
    assert.equal(reason({ securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }), 'SysctlForbidden');
    const slashes = (name: string) => reason({ securityContext: { sysctls: [{ name, value: '1' }] } });
    assert.equal(slashes('kernel/shm_rmid_forced'), undefined);
    assert.equal(slashes('kernel/msgmax'), 'SysctlForbidden');
    assert.equal(reason({ containers: [app({ requests: { cpu: '2' } })] }), 'OutOfcpu');
    assert.equal(reason({}, [{}, {}]), 'OutOfpods');
    const port = { containers: [{ ...app(), ports: [{ containerPort: 80, hostPort: 80 }] }] };
    assert.equal(reason(port, [port]), 'NodePorts');
  });
});

describe('eviction', () => {
  it('begins below a threshold, takes the one that uses too much first, and keeps the condition for a while', () => {
    const thresholds = ['memory.available<100Mi', 'nodefs.available<10%'].map(readThreshold);
    const seen = {
      'memory.available': { capacity: 2 ** 30, available: 2 ** 20 },
      'nodefs.available': { capacity: 100, available: 50 },
    };
    const found = shortages(thresholds, seen);
    assert.deepEqual(
      found.map(({ pressure }) => pressure),
      ['MemoryPressure'],
    );
    const pressures = new Pressures(1000);
    assert.deepEqual([...pressures.take(found, 0)], ['MemoryPressure']);
    assert.equal(pressures.take([], 1000).size, 1);
    assert.equal(pressures.take([], 1001).size, 0);
    const modest = podOf({ containers: [app({ requests: { memory: '10Mi' } })] }, { name: 'modest' });
    const greedy = podOf({ priority: 5 }, { name: 'greedy' });
    const critical = podOf({ priority: 2_000_000_000 }, { name: 'critical' });
    const evicted = podToEvict(
      [modest, greedy, critical],
      'memory',
      () => 2 ** 20,
      () => false,
    );
    assert.equal(evicted?.metadata.name, 'greedy');
  });

  it('waits as long as a soft threshold says, and goes on until more has come back', () => {
    const [hard, soft] = ['memory.available<100', 'memory.available<200'].map(readThreshold);
    const rules = [hard, { ...soft, graceMs: 1000, reclaim: { percent: undefined, amount: 50 } }] as const;
    const watched = new Shortages(rules as never);
    const look = (available: number, now: number) => {
      const found = watched.look({ 'memory.available': { capacity: 1000, available } }, now);
      return [found.length, watched.due(found, now).length];
    };
    assert.deepEqual(look(150, 0), [1, 0]);
    assert.deepEqual(look(150, 999), [1, 0]);
    assert.deepEqual(look(250, 999), [0, 0], 'the time begins anew');
    assert.deepEqual(look(150, 1000), [1, 0]);
    assert.deepEqual(look(150, 2000), [1, 1]);
    assert.deepEqual(look(240, 2001), [1, 1], 'not all has come back');
    assert.deepEqual(look(250, 2002), [0, 0]);
    assert.deepEqual(look(50, 2003), [2, 1], 'the hard one at once');
  });

  it('ends pods that use more of the disk than they may, without following links', async () => {
    const root = await fs.mkdtemp(join(tmpdir(), 'limits-'));
    const folders = new PodFolders(root, join(root, 'logs'));
    const limits = new DiskLimits(folders, join(root, 'logs'));
    const spec = { containers: [app()], volumes: [{ name: 'v', emptyDir: { sizeLimit: '64Ki' } }] };
    const pod = podOf(spec, { name: 'p', uid: 'u', namespace: 'n' });
    assert.equal(limits.concern(pod), true);
    assert.equal(
      limits.concern(podOf({ volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1' } }] })),
      false,
    );
    const folder = folders.volume('u', 'kubernetes.io~empty-dir', 'v');
    await fs.mkdir(join(folder, 'sub'), { recursive: true });
    await fs.writeFile(join(root, 'large'), Buffer.alloc(200_000, 1));
    await fs.symlink(join(root, 'large'), join(folder, 'link'));
    await fs.symlink(root, join(folder, 'up'));
    assert.equal(await limits.problem(pod, undefined), undefined);
    await fs.writeFile(join(folder, 'sub', 'file'), Buffer.alloc(100_000, 1));
    const used = await diskUse(folder);
    await fs.link(join(folder, 'sub', 'file'), join(folder, 'sub', 'same'));
    assert.ok((await diskUse(folder)) - used < 50_000, 'one file with two names');
    assert.match(
      (await limits.problem(pod, undefined)) ?? '',
      /^Usage of EmptyDir volume "v" exceeds the limit "64Ki"\. $/,
    );
    await fs.rm(root, { recursive: true });
  });
});

describe('names that are none of images', () => {
  it('are refused with the reason that people know', () => {
    const plain = 'invalid reference format';
    const cases: Readonly<Record<string, string>> = {
      'NOT a name': `${plain}: repository name (library/NOT a name) must be lowercase`,
      'Bad:::Name': `${plain}: repository name (library/Bad) must be lowercase`,
      'Registry/x y': plain,
      'example.com/A:1': `${plain}: repository name (A) must be lowercase`,
      'a b': plain,
    };
    for (const [text, problem] of Object.entries(cases)) assert.equal(imageNameProblem(text), problem, text);
  });
});

describe('images', () => {
  it('are named by registry, repository, tag and digest', () => {
    assert.deepEqual(parseImageName('busybox'), {
      registry: 'docker.io',
      repository: 'library/busybox',
      tag: undefined,
      digest: undefined,
    });
    assert.equal(parseImageName('localhost:5000/a/b:1')?.registry, 'localhost:5000');
    for (const text of ['', 'UPPER', 'a b', 'a:::b', 'a@sha256:12'])
      assert.equal(parseImageName(text), undefined, text);
  });

  it('have the credentials of the secret that fits best', () => {
    const auths = {
      'https://index.docker.io/v1/': { auth: Buffer.from('u:p').toString('base64') },
      '*.example.com': { username: 'w', password: 'x' },
    };
    const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
    assert.equal(pullCredentials('busybox', [{ data }] as never)[0]?.username, 'u');
    assert.equal(pullCredentials('r.example.com/a', [{ data }] as never)[0]?.password, 'x');
    assert.deepEqual(pullCredentials('evil.com/r.example.com', [{ data }] as never), []);
  });
});

describe('rights of paths', () => {
  it('are those of the parts of a node, and of proxy for all else', () => {
    assert.deepEqual(agentSubresourcesOf('/metrics/resource'), ['metrics']);
    assert.deepEqual(agentSubresourcesOf('/stats/summary'), ['stats']);
    assert.deepEqual(agentSubresourcesOf('/pods'), ['pods', 'proxy']);
    for (const path of ['/exec/a/b/c', '/containerLogs/a/b/c', '/podsx', '/metricsx', '/'])
      assert.deepEqual(agentSubresourcesOf(path), ['proxy'], path);
  });
});

describe('readLog', () => {
  const query = {
    follow: false,
    timestamps: false,
    tailLines: undefined,
    limitBytes: undefined,
    since: undefined,
    stream: 'All' as const,
  };
  const lines = [
    '2026-01-01T00:00:01Z stdout F one',
    '2026-01-01T00:00:02Z stderr P tw',
    '2026-01-01T00:00:02Z stderr F o',
    '2026-01-01T00:00:03Z stdout F three',
  ];

  it('shows whole lines, the last ones, those of a stream or since a time, up to a limit', async () => {
    const path = join(await fs.mkdtemp(join(tmpdir(), 'log-')), '0.log');
    await fs.writeFile(path, `${lines.join('\n')}\n`);
    const read = async (more: object) => {
      const { signal } = new AbortController();
      const pieces: Buffer[] = [];
      for await (const piece of readLog(
        { open: () => fs.open(path), isLive: async () => false, wait: async () => undefined, signal },
        { ...query, ...more },
      ))
        pieces.push(piece);
      return Buffer.concat(pieces).toString();
    };
    assert.equal(await read({}), 'one\ntwo\nthree\n');
    assert.equal(await read({ follow: true }), 'one\ntwo\nthree\n');
    assert.equal(await read({ tailLines: 1 }), 'three\n');
    assert.equal(await read({ tailLines: 0 }), '');
    assert.equal(await read({ limitBytes: 5 }), 'one\nt');
    assert.equal(await read({ stream: 'Stderr' }), 'two\n');
    assert.equal(await read({ since: Date.parse('2026-01-01T00:00:03Z') }), 'three\n');
    assert.equal(await read({ tailLines: 1, timestamps: true }), '2026-01-01T00:00:03Z three\n');
  });

  it('leaves out what is too long for an entry, and shows what comes after it', async (t) => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'log-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    const path = join(folder, '0.log');
    const long = `2026-01-01T00:00:01Z stdout F ${'x '.repeat(2 * 1024 * 1024)}`;
    await fs.writeFile(path, `${[lines[0], long, lines[3]].join('\n')}\n`);
    const { signal } = new AbortController();
    const shown: Buffer[] = [];
    const source = { open: () => fs.open(path), isLive: async () => false, wait: async () => undefined, signal };
    for await (const piece of readLog(source, query)) shown.push(piece);
    assert.equal(Buffer.concat(shown).toString(), 'one\nthree\n');
  });
});

describe('refuseUserNamespace', () => {
  it("refuses by name a pod whose root shall not be the machine's, and takes the others", () => {
    const handlers = [
      { name: '', features: { userNamespaces: false } },
      { name: 'new', features: { userNamespaces: true } },
    ];
    for (const [hostUsers, handler, problem] of [
      [false, '', "can't set `spec.hostUsers: false`, runtime does not support user namespaces"],
      [false, 'old', 'can\'t set `spec.hostUsers: false`, RuntimeClass handler "old" does not support user namespaces'],
      [false, 'new', "can't set `spec.hostUsers: false`, this node agent does not support user namespaces"],
      [true, '', undefined],
      [undefined, 'new', undefined],
    ] as const) {
      const refuse = () => refuseUserNamespace(podOf({ hostUsers }), handler, handlers);
      if (problem === undefined) refuse();
      else assert.throws(refuse, new Error(problem));
    }
  });
});

describe('RuntimeHealth', () => {
  it('says that a runtime can run no pods which makes cgroups in another way', async () => {
    for (const [driver, problem] of [
      ['systemd', /makes cgroups by systemd, and this node agent by cgroupfs/],
      ['cgroupfs', /^$/],
      [undefined, /^$/],
    ] as const) {
      const health = new RuntimeHealth({
        cgroupDriver: async () => driver,
        version: async () => ({ runtimeName: 'a', runtimeVersion: '1' }),
        status: async () => ({ status: { conditions: [] } }),
        listImages: async () => [],
      } as unknown as ContainerRuntime);
      await health.look(0);
      assert.match(health.problems().join(), problem);
    }
  });
});
