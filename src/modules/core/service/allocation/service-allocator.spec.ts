import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, mock } from 'node:test';
import pg from 'pg';
import {
  addressResource,
  names,
  ServiceProcess as Process,
  request,
} from '../../../../../test/support/service-process.js';
import { TcpProxy } from '../../../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres } from '../../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { decode } from '../../../../base/machinery/schema/index.js';
import { StatusError } from '../../../../base/machinery/status-error.js';
import { type Service, service as serviceType } from '../../../../objects/apis/core/v1/service.types.js';
import { ensureSystemObjects } from '../../system-objects.js';
import { nodePortResource } from './service-allocations.js';

const minute = 60_000;

let postgres: TestPostgres;
before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

async function withProcesses(count: number, use: (...processes: Process[]) => Promise<void>, ranges?: RangesOption) {
  const databaseUrl = await postgres.createTestDatabase();
  const processes: Process[] = [];
  for (let i = 0; i < count; i++) processes.push(await Process.start(databaseUrl, undefined, ranges));
  try {
    await use(...processes);
  } finally {
    for (const process of processes) await process.stop();
  }
}
type RangesOption = { addresses: string; ports: string };

/** Stores a ServiceCIDR, as the API and its controller would write it. */
async function writeRange(process: Process, name: string, cidrs: string[], metadata = {}, ready?: string) {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: ready }];
  const uid = randomUUID();
  const object = { metadata: { name, uid, ...metadata }, spec: { cidrs }, status: { conditions } };
  const key = { resource: 'servicecidrs.networking.k8s.io', namespace: '', name };
  await process.storage.create(key, uid, JSON.stringify(object));
}

/** The message of the 422 that refuses a write. */
async function refusal(write: Promise<unknown>): Promise<string> {
  const error = await write.then(
    () => undefined,
    (e: unknown) => e,
  );
  assert.ok(error instanceof StatusError, String(error));
  assert.equal(error.reason, 'Invalid');
  return error.message;
}

describe('service allocation', () => {
  it('gives every service of two busy processes its own address and ports', async () => {
    await withProcesses(2, async (a, b) => {
      const writes = Array.from({ length: 60 }, (_, i) =>
        ([a, b][i % 2] as Process).create(`s${i}`, { type: 'NodePort' }),
      );
      const services = await Promise.all(writes);
      const addresses = services.map(({ spec }) => spec.clusterIP as string);
      const ports = services.map(({ spec }) => String(spec.ports?.[0]?.nodePort));
      assert.equal(new Set(addresses).size, 60);
      assert.equal(new Set(ports).size, 60);
      assert.deepEqual(await a.allocated(addressResource), [...addresses].sort());
      assert.deepEqual(await b.allocated(nodePortResource), [...ports].sort());
    });
  });

  it('gives an address and a port that many services ask for to one of them', async () => {
    await withProcesses(2, async (a, b) => {
      const spec = { type: 'NodePort', clusterIP: '10.0.0.7', ports: [{ port: 80, nodePort: 30007 }] };
      const writes = Array.from({ length: 10 }, (_, i) => ([a, b][i % 2] as Process).create(`s${i}`, spec));
      const results = await Promise.allSettled(writes);
      assert.equal(results.filter((r) => r.status === 'fulfilled').length, 1);
      assert.deepEqual(await a.allocated(addressResource), ['10.0.0.7']);
      assert.deepEqual(await a.allocated(nodePortResource), ['30007']);
      const text = 'failed to allocate IP 10.0.0.7: provided IP is already allocated';
      assert.match(await refusal(a.create('late', { clusterIP: '10.0.0.7' })), new RegExp(text));
      const taken = refusal(a.create('late', { type: 'NodePort', ports: [{ port: 80, nodePort: 30007 }] }));
      assert.match(await taken, /spec.ports\[0\].nodePort: Invalid value: 30007: provided port is already allocated/);
      assert.deepEqual(await a.allocated(addressResource), ['10.0.0.7'], 'a refused service keeps nothing');
    });
  });

  it('refuses names outside the ranges', async () => {
    await withProcesses(1, async (process) => {
      const far = refusal(process.create('s', { clusterIP: '192.168.1.1' }));
      assert.match(await far, /failed to allocate IP .*: the provided network does not match the current range/);
      const low = refusal(process.create('s', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }));
      assert.match(await low, /provided port is not in the valid range. The range of valid ports is 30000-30099/);
      assert.deepEqual(await process.allocated(addressResource), []);
    });
  });

  it('gives services addresses of both families, and takes them back', async () => {
    const ranges = { addresses: '10.0.0.0/24,fd00:96::/112', ports: '30000-30099' };
    const use = async (process: Process) => {
      const { spec } = await process.create('both', { ipFamilyPolicy: 'PreferDualStack' });
      const [four = '', six = ''] = spec.clusterIPs ?? [];
      assert.match(`${four} ${six} ${spec.clusterIP}`, /^(10\.0\.0\.\d+) fd00:96::[0-9a-f]+ \1$/);
      assert.deepEqual(await process.allocated(addressResource), [four, six].sort());
      const single = await process.change('both', (service) => {
        service.spec.ipFamilyPolicy = 'SingleStack';
      });
      assert.deepEqual(single.spec.clusterIPs, [four]);
      assert.deepEqual(await process.allocated(addressResource), [four], 'the second address is free');
      const again = await process.change('both', (service) => {
        service.spec.ipFamilyPolicy = 'RequireDualStack';
      });
      assert.equal(again.spec.clusterIPs?.[0], four, 'the first address stays');
      assert.equal(again.spec.clusterIPs?.length, 2);
      const chosen = { clusterIP: 'fd00:96::7', clusterIPs: ['fd00:96::7', '10.0.0.7'] };
      await process.create('chosen', { ipFamilyPolicy: 'RequireDualStack', ...chosen });
      const held = await process.allocated(addressResource);
      assert.ok(held.includes('fd00:96::7') && held.includes('10.0.0.7'));
      const half = { clusterIP: '10.0.0.8', clusterIPs: ['10.0.0.8', 'fd00:96::7'] };
      const refused = refusal(process.create('half', { ipFamilyPolicy: 'RequireDualStack', ...half }));
      assert.match(await refused, /failed to allocate IP fd00:96::7: provided IP is already allocated/);
      assert.deepEqual(await process.allocated(addressResource), held, 'a refused service keeps nothing');
    };
    await withProcesses(1, use, ranges);
  });

  it('frees both ports of a service whose second one was drawn from few', async () => {
    await withProcesses(
      1,
      async (process) => {
        for (let i = 0; i < 8; i++) {
          const ports = [{ port: 80 }];
          await process.create(`s${i}`, { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports });
          assert.deepEqual(await process.allocated(nodePortResource), ['30000', '30001']);
          await process.change(`s${i}`, ({ spec }) => {
            spec.type = 'ClusterIP';
            delete spec.externalTrafficPolicy;
          });
          assert.deepEqual(await process.allocated(nodePortResource), []);
        }
      },
      { addresses: '10.0.0.0/24', ports: '30000-30001' },
    );
  });

  it('frees what a service no longer has', async () => {
    await withProcesses(2, async (a, b) => {
      const ports = [{ port: 80 }];
      const created = await a.create('s', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports });
      assert.ok(created.spec.healthCheckNodePort);
      assert.equal((await b.allocated(nodePortResource)).length, 2);

      const inside = await b.change('s', ({ spec }) => {
        spec.type = 'ClusterIP';
        delete spec.externalTrafficPolicy;
      });
      assert.equal(inside.spec.clusterIP, created.spec.clusterIP);
      assert.deepEqual(await a.allocated(nodePortResource), []);

      await a.change('s', ({ spec }) => {
        spec.type = 'ExternalName';
        spec.externalName = 'a.b';
      });
      assert.deepEqual(await a.allocated(addressResource), []);

      await b.change('s', ({ spec }) => {
        spec.type = 'NodePort';
      });
      assert.equal((await a.allocated(addressResource)).length, 1);
      await a.delete('s');
      assert.deepEqual(await a.allocated(addressResource), []);
      assert.deepEqual(await a.allocated(nodePortResource), []);
    });
  });

  it('gives the same node port to one port over two protocols', async () => {
    await withProcesses(1, async (process) => {
      const ports = [
        { name: 'a', port: 53 },
        { name: 'b', port: 53, protocol: 'UDP' },
        { name: 'c', port: 54, protocol: 'UDP' },
      ];
      const { spec } = await process.create('s', { type: 'NodePort', ports });
      const [a, b, c] = (spec.ports ?? []).map(({ nodePort }) => nodePort);
      assert.equal(a, b);
      assert.notEqual(a, c);
    });
  });

  it('allocates nothing in a dry run, and says what would fail', async () => {
    await withProcesses(1, async (process) => {
      const { spec } = await process.create('s', { type: 'NodePort' }, true);
      assert.match(String(spec.clusterIP), /^10\.0\.0\.\d+$/);
      assert.ok(Number(spec.ports?.[0]?.nodePort) >= 30_000);
      assert.deepEqual(await process.allocated(nodePortResource), []);
      assert.deepEqual(await process.allocated(addressResource), []);
      await process.create('t', { clusterIP: '10.0.0.7' });
      assert.match(await refusal(process.create('s', { clusterIP: '10.0.0.7' }, true)), /already allocated/);
      await process.change(
        't',
        ({ spec: own }) => Object.assign(own, { type: 'ExternalName', externalName: 'a' }),
        true,
      );
      assert.deepEqual(await process.allocated(addressResource), ['10.0.0.7']);
    });
  });

  it('takes addresses from every range that has an object, in all processes', async () => {
    await withProcesses(2, async (a, b) => {
      await writeRange(a, 'two', ['10.98.0.0/30', 'fd00::/120']);
      const wanted = await b.create('wanted', { clusterIP: '10.98.0.2' });
      assert.equal(wanted.spec.clusterIP, '10.98.0.2');
      assert.deepEqual(await a.allocated(addressResource), ['10.98.0.2']);
      const mismatch = /failed to allocate IP 10\.98\.0\.[03]: the provided network does not match the current range/;
      for (const clusterIP of ['10.98.0.0', '10.98.0.3']) {
        assert.match(await refusal(a.create('edge', { clusterIP })), mismatch);
      }
      // Ranges without any address are left out.
      await writeRange(a, 'tiny', ['10.99.0.0/31']);
      assert.match(await refusal(a.create('tiny', { clusterIP: '10.99.0.1' })), /does not match the current range/);
    });
  });

  it('goes on with the next range when one is full', async () => {
    const ranges = { addresses: '10.0.0.0/30', ports: '30000-30099' };
    const withOne = async (process: Process) => {
      await process.create('a', {});
      await process.create('b', {});
      await assert.rejects(process.create('c', {}), /range is full/);
      await writeRange(process, 'two', ['10.98.0.0/29']);
      assert.match((await process.create('c', {})).spec.clusterIP as string, /^10\.98\.0\.[1-6]$/);
    };
    await withProcesses(1, withOne, ranges);
  });

  it('takes no address from a range that is being deleted or not ready, the range of the flag included', async () => {
    await withProcesses(2, async (a, b) => {
      await writeRange(a, 'kubernetes', ['10.0.0.0/24'], { deletionTimestamp: '2030-01-01T00:00:00Z' });
      await writeRange(a, 'off', ['10.97.0.0/24'], {}, 'False');
      await assert.rejects(b.create('s', {}), /range is full/);
      for (const clusterIP of ['10.0.0.7', '10.97.0.7']) {
        assert.match(await refusal(b.create('s', { clusterIP })), /does not match the current range/);
      }
      await writeRange(a, 'on', ['10.97.0.0/24'], {}, 'True');
      assert.match((await b.create('s', {})).spec.clusterIP as string, /^10\.97\.0\./);
    });
  });

  it('frees allocations of a service that could not be written', async () => {
    await withProcesses(1, async (process) => {
      await process.create('s', {});
      const allocated = await process.allocated(addressResource);
      await assert.rejects(process.create('s', { type: 'NodePort' }), { reason: 'AlreadyExists' });
      assert.deepEqual(await process.allocated(addressResource), allocated);
      assert.deepEqual(await process.allocated(nodePortResource), []);
    });
  });

  it('keeps allocations when the outcome of the write is unknown', async () => {
    const databaseUrl = await postgres.createTestDatabase();
    const proxy = await TcpProxy.start(postgres.port);
    const unresolved = Promise.withResolvers<void>();
    const cutOff = await Process.start(proxy.through(databaseUrl), undefined, undefined, {
      resolveDeadlineMs: 300,
      onUnknownOutcome: unresolved.resolve,
    });
    const other = await Process.start(databaseUrl);
    const blocker = new pg.Client({ connectionString: databaseUrl });
    const observer = new pg.Client({ connectionString: databaseUrl });
    await Promise.all([blocker.connect(), observer.connect()]);
    const spec = { type: 'NodePort', clusterIP: '10.0.0.7', ports: [{ port: 80, nodePort: 30007 }] };
    try {
      // The allocations are written, but the service's own row has to wait for another session.
      await blocker.query('begin');
      await blocker.query(
        `insert into plinth.objects (resource, namespace, name, uid, resource_version, data) values ('services', 'n', 's', 'u', 1, '{}')`,
      );
      const refused = assert.rejects(cutOff.create('s', spec), { reason: 'Timeout' });
      // Other tests use the same server. Within a transaction the activity would not change.
      const waiting = `select from pg_locks join pg_stat_activity using (pid)
        where not granted and locktype = 'transactionid' and datname = current_database()`;
      while ((await observer.query(waiting)).rowCount === 0) await new Promise((resolve) => setImmediate(resolve));
      proxy.cut(true);
      await unresolved.promise;
      await blocker.query('rollback');
      const key = { resource: 'services', namespace: 'n', name: 's' };
      while ((await other.storage.get(key)) === undefined) await new Promise((resolve) => setImmediate(resolve));
      proxy.cut();
      await refused;
      assert.deepEqual(await other.allocated(addressResource), ['10.0.0.7']);
      assert.deepEqual(await other.allocated(nodePortResource), ['30007']);
      assert.match(await refusal(other.create('t', spec)), /already allocated/);
    } finally {
      await Promise.all([blocker.end(), observer.end()]);
      await cutOff.stop();
      await other.stop();
      await proxy.stop();
    }
  });

  it('uses a range up to its last address, then says it is full', async () => {
    const ranges = { addresses: '10.0.0.0/29', ports: '30000-30001' };
    await withProcesses(
      1,
      async (process) => {
        for (let i = 0; i < 6; i++) await process.create(`s${i}`, {});
        assert.equal((await process.allocated(addressResource)).length, 6);
        await assert.rejects(process.create('s6', {}), /failed to allocate a serviceIP: range is full/);
        await process.delete('s3');
        await process.create('s6', {});
      },
      ranges,
    );
  });

  it('asks the database little for the ports of a range that is nearly full, or full', async () => {
    await withProcesses(
      1,
      async (process) => {
        const ports = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: 80 + i }));
        const spec = { type: 'NodePort', clusterIP: undefined, ports: ports(20) };
        for (let i = 0; i < 5; i++) await process.create(`s${i}`, spec);
        const creates = mock.method(process.context.storage, 'create');
        const lists = mock.method(process.context.storage, 'list');
        // Each write of a service also reads the ranges of addresses.
        const surveys = () =>
          lists.mock.calls.filter(({ arguments: [query] }) => query.resource === nodePortResource).length;
        try {
          await process.create('last', { ...spec, ports: ports(8) });
          // One of the creates is the service and one its address.
          assert.ok(creates.mock.callCount() < 20, `${creates.mock.callCount()} creates for 8 ports`);
          assert.ok(surveys() <= 2, `${surveys()} surveys`);
          const more = Array.from({ length: 30 }, (_, i) => process.create(`more${i}`, { ...spec, ports: ports(1) }));
          for (const outcome of await Promise.allSettled(more)) {
            assert.match(
              String((outcome as PromiseRejectedResult).reason),
              /failed to allocate a nodePort: range is full/,
            );
          }
          assert.ok(surveys() <= 12, `${surveys()} surveys`);
        } finally {
          creates.mock.restore();
          lists.mock.restore();
        }
        await process.delete('s0');
        await process.create('again', { ...spec, ports: ports(20) });
      },
      { addresses: '10.0.0.0/16', ports: '30000-30107' },
    );
  });

  it('takes over old allocations of services that were never written, but not recent ones', async () => {
    const databaseUrl = await postgres.createTestDatabase();
    const time = { now: Date.now() };
    const dead = await Process.start(databaseUrl, time);
    const process = await Process.start(databaseUrl, time);
    try {
      // The allocation that a process leaves when it dies before writing its service.
      const definition = dead.context.registry.findStoredResource('', 'v1', 'services')?.definition;
      const object = decode(serviceType, {
        metadata: { name: 'lost', namespace: 'n', uid: randomUUID() },
        spec: {
          type: 'NodePort',
          clusterIP: '10.0.0.7',
          clusterIPs: ['10.0.0.7'],
          ports: [{ port: 80, nodePort: 30007 }],
        },
      }).value as unknown as ApiObject;
      await definition?.strategy.reserveForCreate?.(request, object, false);
      const spec = { type: 'NodePort', clusterIP: '10.0.0.7', ports: [{ port: 80, nodePort: 30007 }] };

      assert.match(await refusal(process.create('s', spec)), /already allocated/);
      time.now += 6 * minute;
      assert.equal((await process.create('s', spec)).spec.clusterIP, '10.0.0.7');
      time.now += 6 * minute;
      assert.match(
        await refusal(process.create('t', spec)),
        /already allocated/,
        'a living service keeps its allocation',
      );
    } finally {
      await dead.stop();
      await process.stop();
    }
  });

  it('lets the lost service itself be written again at once', async () => {
    await withProcesses(1, async (process) => {
      const definition = process.context.registry.findStoredResource('', 'v1', 'services')?.definition;
      const spec = { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'] };
      const metadata = { name: 'lost', namespace: 'n', uid: randomUUID() };
      const object = decode(serviceType, { metadata, spec }).value as unknown as ApiObject;
      await definition?.strategy.reserveForCreate?.(request, object, false);
      assert.equal((await process.create('lost', spec)).spec.clusterIP, '10.0.0.7');
      await process.delete('lost');
      assert.deepEqual(await process.allocated(addressResource), []);
    });
  });

  it('shows the address of a service as an object', async () => {
    await withProcesses(1, async (process) => {
      await process.create('s', { clusterIP: '10.0.0.7' });
      const [item] = (await process.storage.list({ resource: addressResource })).items;
      const address = JSON.parse(item?.json ?? '{}') as ApiObject;
      assert.equal(address.kind, 'IPAddress');
      assert.equal(address.apiVersion, 'networking.k8s.io/v1');
      assert.equal(address.metadata.uid, item?.uid);
      assert.deepEqual(address.spec, { parentRef: { resource: 'services', namespace: 'n', name: 's' } });
    });
  });
});

describe('system objects', () => {
  it('are made once by processes that start together', async () => {
    await withProcesses(3, async (...processes) => {
      await Promise.all(processes.map(({ context }) => ensureSystemObjects(context, 7443)));
      const [process] = processes as [Process, ...Process[]];
      const namespaces = (await process.storage.list({ resource: 'namespaces' })).items.map((item) => item.key.name);
      const { systemNamespace, publicNamespace, nodeLeaseNamespace } = names;
      assert.deepEqual(namespaces, ['default', systemNamespace, publicNamespace, nodeLeaseNamespace].sort());
      const [service, ...others] = (await process.storage.list({ resource: 'services' })).items;
      assert.deepEqual(others, []);
      const { metadata, spec } = JSON.parse(service?.json ?? '{}') as Service;
      assert.equal(`${metadata.namespace}/${metadata.name}`, 'default/kubernetes');
      assert.equal(spec.clusterIP, '10.0.0.1');
      assert.deepEqual(spec.ports, [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 7443 }]);
      await ensureSystemObjects(process.context, 7443);
      assert.deepEqual(await process.allocated(addressResource), ['10.0.0.1']);
    });
  });

  it('take another address when the first one has an owner', async () => {
    await withProcesses(1, async (process) => {
      await process.create('s', { clusterIP: '10.0.0.1' });
      await ensureSystemObjects(process.context);
      assert.equal((await process.storage.list({ resource: 'services' })).items.length, 2);
      assert.equal((await process.allocated(addressResource)).length, 2);
    });
  });
});
