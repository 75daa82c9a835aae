import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { decode } from '../../../base/machinery/schema/index.js';
import { pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { cgroupAmounts, linuxResourcesOf } from '../containers/resources.js';
import { chooseCpus } from './choose-cpus.js';
import { CpuManager, reservedCpus } from './cpu-manager.js';
import { formatCpuSet, parseCpuSet } from './cpu-set.js';
import { CpuStateFile } from './cpu-state-file.js';
import { type CpuTopology, readCpuTopology } from './cpu-topology.js';

/** Sockets with cores of two threads each, whose numbers are as far apart as the kernel's. */
function machine(sockets: number, cores: number, threads = 2): CpuTopology {
  const all = sockets * cores;
  return Array.from({ length: all * threads }, (_, cpu) => {
    const socket = Math.floor((cpu % all) / cores);
    return { cpu, core: cpu % all, socket, numaNode: socket };
  });
}

interface Wanted {
  readonly name?: string;
  readonly cpu: string;
  readonly request?: string;
  readonly restartPolicy?: string;
}

function pod(uid: string, containers: readonly Wanted[], inits: readonly Wanted[] = [], spec: object = {}) {
  const container = ({ name = 'main', cpu, request = cpu, restartPolicy }: Wanted) => ({
    name,
    resources: { limits: { cpu, memory: '1Gi' }, requests: { cpu: request, memory: '1Gi' } },
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });
  const metadata = { name: uid, namespace: 'default', uid };
  const all = { containers: containers.map(container), initContainers: inits.map(container), ...spec };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata, spec: all }).value;
}

describe('sets of processors', () => {
  it('are read and written as the kernel does', () => {
    for (const text of ['', '0', '0-3', '0-1,4,6-7']) assert.equal(formatCpuSet(parseCpuSet(text)), text);
    assert.deepEqual(parseCpuSet('3,1-2,2'), [1, 2, 3]);
    for (const text of ['a', '1-', '3-1', '1,,2', '0-99999999', '-1'])
      assert.throws(() => parseCpuSet(text), /not a set/);
  });
});

describe('chooseCpus', () => {
  const cases: readonly [string, CpuTopology, string, number, string | undefined][] = [
    ['a whole core', machine(1, 4), '0-7', 2, '0,4'],
    ['a core and a thread', machine(1, 4), '0-7', 3, '0-1,4'],
    ['the rest of a core that is used already', machine(1, 4), '1-3,4-7', 1, '4'],
    ['a whole socket', machine(2, 2), '0-7', 4, '0-1,4-5'],
    ['the socket that is free as a whole', machine(2, 2), '1-7', 4, '2-3,6-7'],
    ['the socket with less room, if it suffices', machine(2, 4), '0-6,8-14', 2, '4,12'],
    ['single threads where no core is whole', machine(1, 4), '0-3', 2, '0-1'],
    ['processors without threads', machine(1, 4, 1), '1-3', 2, '1-2'],
    ['no more than there are', machine(1, 2), '0-1', 3, undefined],
    ['nothing', machine(1, 2), '0-3', 0, ''],
  ];
  for (const [what, topology, available, count, wanted] of cases) {
    it(`chooses ${what}`, () => {
      const chosen = chooseCpus(topology, parseCpuSet(available), count);
      assert.equal(chosen && formatCpuSet(chosen), wanted);
    });
  }

  it('never chooses what is not available, nor another number than is asked for', () => {
    for (const topology of [machine(1, 3), machine(2, 3), machine(3, 2, 1)]) {
      const all = topology.map(({ cpu }) => cpu);
      for (let bits = 0; bits < 2 ** all.length; bits += 7) {
        const available = all.filter((_, i) => bits & (1 << i));
        for (let count = 0; count <= available.length; count++) {
          const chosen = chooseCpus(topology, available, count) ?? [];
          assert.equal(new Set(chosen).size, count);
          assert.ok(chosen.every((cpu) => available.includes(cpu)));
        }
      }
    }
  });
});

describe('readCpuTopology', () => {
  it('reads cores, sockets and memory from the kernel', async () => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-cpus-'));
    try {
      const write = async (path: string, text: string) => {
        await fs.mkdir(join(folder, path, '..'), { recursive: true });
        await fs.writeFile(join(folder, path), `${text}\n`);
      };
      await write('cpu/online', '0-2');
      for (const [cpu, siblings, socket] of [
        [0, '0,2', 0],
        [1, '1', 1],
        [2, '0,2', 0],
      ]) {
        await write(`cpu/cpu${cpu}/topology/thread_siblings_list`, String(siblings));
        await write(`cpu/cpu${cpu}/topology/physical_package_id`, String(socket));
      }
      await write('node/node0/cpulist', '0,2');
      await write('node/node1/cpulist', '1');
      assert.deepEqual(await readCpuTopology(folder), [
        { cpu: 0, core: 0, socket: 0, numaNode: 0 },
        { cpu: 1, core: 1, socket: 1, numaNode: 1 },
        { cpu: 2, core: 0, socket: 0, numaNode: 0 },
      ]);
    } finally {
      await fs.rm(folder, { recursive: true });
    }
  });
});

describe('CpuManager', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'plinth-cpus-'));
  });
  // A manager may still be writing its state.
  afterEach(() => fs.rm(folder, { recursive: true, force: true, maxRetries: 10 }));

  const path = () => join(folder, 'cpu_manager_state');
  const fail = (error: unknown) => assert.fail(String(error));
  const open = (topology = machine(1, 4), reserved = '0') =>
    CpuManager.open(topology, parseCpuSet(reserved), new CpuStateFile(path(), 'static'), fail);
  /** Resolves when the state is on the disk, where the next manager reads it. */
  const untilWritten = async (text: string) => {
    while (!(await fs.readFile(path(), 'utf8')).includes(text)) await new Promise((resolve) => setImmediate(resolve));
  };

  it('gives whole processors to guaranteed pods only, and the rest to everybody else', async () => {
    const cpus = await open();
    assert.equal(cpus.allocate(pod('a', [{ cpu: '2' }, { name: 'side', cpu: '500m' }])), undefined);
    assert.deepEqual(cpus.cpusOf('a', 'main'), { cpus: '1,5', isExclusive: true });
    assert.deepEqual(cpus.cpusOf('a', 'side'), { cpus: '0,2-4,6-7', isExclusive: false });
    for (const other of [
      pod('b', [{ cpu: '2', request: '1' }]),
      pod('c', [{ cpu: '1500m' }]),
      pod('d', [{ cpu: '1' }], [], { resources: { limits: { cpu: '1', memory: '1Gi' } } }),
    ]) {
      assert.equal(cpus.allocate(other), undefined);
      assert.deepEqual(cpus.cpusOf(other.metadata.uid ?? '', 'main'), { cpus: '0,2-4,6-7', isExclusive: false });
    }
  });

  it("never gives away reserved processors, and says in the field's words that there are too few", async () => {
    const cpus = await open(machine(1, 2, 1));
    assert.equal(cpus.allocate(pod('a', [{ cpu: '1' }])), undefined);
    assert.deepEqual(cpus.allocate(pod('b', [{ cpu: '1' }])), {
      reason: 'UnexpectedAdmissionError',
      message:
        'Allocate failed due to not enough cpus available to satisfy request: requested=1, available=0, which is unexpected',
    });
    assert.equal(cpus.hasExclusive('b'), false);
    cpus.retain((uid) => uid !== 'a');
    assert.equal(cpus.allocate(pod('b', [{ cpu: '1' }])), undefined);
    assert.equal(cpus.cpusOf('b', 'main').cpus, '1');
  });

  it('leaves nothing of a pod that does not fit as a whole', async () => {
    const cpus = await open(machine(1, 4, 1));
    assert.notEqual(
      cpus.allocate(
        pod('a', [
          { name: 'one', cpu: '2' },
          { name: 'two', cpu: '2' },
        ]),
      ),
      undefined,
    );
    assert.equal(formatCpuSet(cpus.shared), '0-3');
  });

  it('lets later containers have what init containers had, but not what sidecars have', async () => {
    const cpus = await open(machine(1, 4, 1));
    const inits = [
      { name: 'task', cpu: '2' },
      { name: 'sidecar', cpu: '1', restartPolicy: 'Always' },
    ];
    assert.equal(cpus.allocate(pod('a', [{ cpu: '2' }], inits)), undefined);
    const of = (name: string) => cpus.cpusOf('a', name).cpus;
    assert.deepEqual([of('task'), of('sidecar'), of('main')], ['1-2', '1', '2-3']);
  });

  it("goes on after a restart, with the file that upstream's agent reads", async () => {
    const first = await open(machine(1, 2, 1));
    const uid = 'a6ae068d-488b-4128-956d-04bb62e354dc';
    first.allocate(pod(uid, [{ cpu: '1' }]));
    await untilWritten(uid);
    const text = await fs.readFile(path(), 'utf8');
    // The content that the kubelet of release 1.37.2 wrote for such a pod.
    const theirs =
      `{"policyName":"static","defaultCpuSet":"0","entries":{"${uid}":{"main":"1"}},"checksum":1356413828,` +
      `"data":"{\\"policyName\\":\\"static\\",\\"defaultCpuSet\\":\\"0\\",\\"entries\\":{\\"${uid}\\":{\\"main\\":\\"1\\"}}}",` +
      '"dataChecksum":1923558645}';
    assert.equal(text, theirs);
    const second = await open(machine(1, 2, 1));
    assert.deepEqual(second.cpusOf(uid, 'main'), { cpus: '1', isExclusive: true });
    assert.equal(second.allocate(pod(uid, [{ cpu: '1' }])), undefined);
    assert.deepEqual(second.cpusOf(uid, 'main'), { cpus: '1', isExclusive: true });
  });

  it('reads the file of a release before 1.37, and refuses what is not whole or of another policy', async () => {
    const old = '{"policyName":"static","defaultCpuSet":"0-1","checksum":1636926438}';
    await fs.writeFile(path(), old);
    assert.equal(formatCpuSet((await open(machine(1, 2, 1))).shared), '0-1');
    for (const [text, problem] of [
      [old.replace('0-1', '0'), /is damaged \(its checksum is wrong\): drain the node/],
      ['{"policyName":"sta', /is damaged/],
      ['{"policyName":"none","defaultCpuSet":""}', /was written under --cpu-manager-policy=none/],
      ['{"policyName":"static","defaultCpuSet":"0-7"}', /the processors or the reserved ones are others/],
      ['{"policyName":"static","defaultCpuSet":"1","entries":{"a":{"b":"0"}}}', /or the reserved ones are others/],
    ] as const) {
      await fs.writeFile(path(), text);
      await assert.rejects(open(machine(1, 2, 1)), problem);
    }
  });

  it('needs processors for the machine itself', async () => {
    await assert.rejects(open(machine(1, 2), ''), /--cpu-manager-policy=static needs a processor/);
    await assert.rejects(open(machine(1, 2), '9'), /not online: 0-3 are/);
    assert.deepEqual(reservedCpus(machine(1, 4), '', 1200), [0, 4]);
    assert.deepEqual(reservedCpus(machine(1, 4), '1-2', 9000), [1, 2]);
  });

  it('frees a container with processors of its own from its quota, and its pod', async () => {
    const cpus = await open();
    const guaranteed = pod('a', [{ cpu: '2' }, { name: 'side', cpu: '500m' }]);
    cpus.allocate(guaranteed);
    const settings = { cfsQuotaPeriodMs: 100, cfsQuota: true, memoryCapacity: 2 ** 34 };
    const [main, side] = guaranteed.spec.containers ?? [];
    assert.ok(main && side);
    const of = (container: typeof main, more: object) => {
      const { cpuQuota, cpusetCpus } = linuxResourcesOf(guaranteed, container, { ...settings, ...more });
      return { cpuQuota, cpusetCpus };
    };
    assert.deepEqual(of(main, { cpus }), { cpuQuota: undefined, cpusetCpus: '1,5' });
    assert.deepEqual(of(side, { cpus }), { cpuQuota: 50_000, cpusetCpus: '0,2-4,6-7' });
    assert.deepEqual(of(main, {}), { cpuQuota: 200_000, cpusetCpus: undefined });
    assert.equal(cgroupAmounts(guaranteed, { ...settings, cpus }).cpuLimitMilli, undefined);
    assert.equal(cgroupAmounts(guaranteed, settings).cpuLimitMilli, 2500);
  });
});
