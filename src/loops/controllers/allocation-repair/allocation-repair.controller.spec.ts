import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { untilNoSessions } from '../../../../test/support/other-sessions.js';
import { Random } from '../../../../test/support/random.js';
import { addressResource, request, ServiceProcess } from '../../../../test/support/service-process.js';
import { TcpProxy } from '../../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { decode } from '../../../base/machinery/schema/index.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { Logger } from '../../../base/observability/logger.js';
import { nodePortResource } from '../../../modules/core/service/allocation/service-allocations.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import { type Service, service as serviceType } from '../../../objects/apis/core/v1/service.types.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { AllocationRepairController } from './allocation-repair.controller.js';

const never = new AbortController().signal;
const quiet = new Logger('error', 'text', () => {});

let postgres: TestPostgres;
before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

function repairOf(process: ServiceProcess): AllocationRepairController {
  const { storage, registry } = process.context;
  return new AllocationRepairController({ storage, registry, logger: quiet, timers: new ManualTimers() });
}

async function withProcess(use: (process: ServiceProcess, repair: AllocationRepairController) => Promise<void>) {
  const process = await ServiceProcess.start(await postgres.createTestDatabase());
  try {
    // The namespace of the services and of their events.
    const metadata = { name: 'n', uid: randomUUID() };
    const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata, status: { phase: 'Active' } };
    const key = { resource: 'namespaces', namespace: '', name: metadata.name };
    await process.storage.create(key, metadata.uid, JSON.stringify(namespace));
    await use(process, repairOf(process));
  } finally {
    await process.stop();
  }
}

/** Allocates the names of an unwritten service: a create in progress, or one that never ends. */
async function allocateOnly(process: ServiceProcess, name: string, spec: object): Promise<void> {
  const metadata = { name, namespace: 'n', uid: randomUUID() };
  const object = decode(serviceType, { metadata, spec }).value as unknown as ApiObject;
  const definition = process.context.registry.findStoredResource('', 'v1', 'services')?.definition;
  await definition?.strategy.reserveForCreate?.(request, object, false);
}

async function dropAllocation(process: ServiceProcess, resource: string, name: string): Promise<void> {
  const key = { resource, namespace: '', name };
  await process.storage.guaranteedUpdate(key, {}, (current) => ({ kind: 'delete', json: current?.json ?? '' }));
}

async function events(process: ServiceProcess): Promise<Event[]> {
  const { items } = await process.storage.list({ resource: 'events' });
  return items.map(({ json }) => JSON.parse(json) as Event);
}

const lost = {
  type: 'NodePort',
  clusterIP: '10.0.0.7',
  clusterIPs: ['10.0.0.7'],
  ports: [{ port: 80, nodePort: 30007 }],
};

describe('the repair of allocations', () => {
  it('frees allocations that three consecutive rounds found without an owner', async () => {
    await withProcess(async (process, repair) => {
      const kept = await process.create('kept', { type: 'NodePort' });
      await allocateOnly(process, 'lost', lost);
      await repair.round(never);
      await repair.round(never);
      assert.ok((await process.allocated(addressResource)).includes('10.0.0.7'));
      assert.ok((await process.allocated(nodePortResource)).includes('30007'));
      await repair.round(never);
      assert.deepEqual(await process.allocated(addressResource), [kept.spec.clusterIP]);
      assert.deepEqual(await process.allocated(nodePortResource), [String(kept.spec.ports?.[0]?.nodePort)]);
    });
  });

  it('keeps allocations that get a user in the meantime', async () => {
    await withProcess(async (process, repair) => {
      await allocateOnly(process, 'lost', lost);
      await repair.round(never);
      await repair.round(never);
      // Another create in progress uses the allocation under the same key.
      await allocateOnly(process, 'lost', lost);
      await repair.round(never);
      assert.deepEqual(await process.allocated(addressResource), ['10.0.0.7']);
      await process.create('lost', lost);
      for (let i = 0; i < 4; i++) await repair.round(never);
      assert.deepEqual(await process.allocated(addressResource), ['10.0.0.7']);
      assert.deepEqual(await events(process), []);
    });
  });

  it('frees the allocations of changed and deleted services', async () => {
    await withProcess(async (process, repair) => {
      await process.create('s', {});
      // An allocation with another uid is left behind when a service is replaced while its outcome is unknown.
      await allocateOnly(process, 's', { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] });
      for (let i = 0; i < 3; i++) await repair.round(never);
      assert.equal((await process.allocated(addressResource)).length, 1);
    });
  });

  it('allocates the unallocated names of a service, and reports it', async () => {
    await withProcess(async (process, repair) => {
      await process.create('s', lost);
      await dropAllocation(process, addressResource, '10.0.0.7');
      await dropAllocation(process, nodePortResource, '30007');
      await repair.round(never);
      assert.deepEqual(await process.allocated(addressResource), ['10.0.0.7']);
      assert.deepEqual(await process.allocated(nodePortResource), ['30007']);
      const reported = (await events(process)).map(({ reason, involvedObject }) => `${reason} ${involvedObject.name}`);
      assert.deepEqual(reported.sort(), ['ClusterIPNotAllocated s', 'PortNotAllocated s']);
      await process.delete('s');
      assert.deepEqual(await process.allocated(addressResource), [], 'the allocation is the service’s own');
    });
  });

  it('reports an address that two services have, once, and leaves both', async () => {
    await withProcess(async (process, repair) => {
      await process.create('first', { clusterIP: '10.0.0.7' });
      await dropAllocation(process, addressResource, '10.0.0.7');
      await process.create('second', { clusterIP: '10.0.0.7' });
      await repair.round(never);
      await repair.round(never);
      const reported = await events(process);
      assert.deepEqual(
        reported.map(({ reason, type, involvedObject }) => [reason, type, involvedObject.name]),
        [['ClusterIPAlreadyAllocated', 'Warning', 'first']],
      );
      assert.match(reported[0]?.message ?? '', /10\.0\.0\.7 is allocated to n\/second/);
      assert.equal((await process.storage.list({ resource: 'services' })).items.length, 2);
    });
  });

  it('finds nothing given twice and nothing lost after connections broke at random', async () => {
    const databaseUrl = await postgres.createTestDatabase();
    const random = new Random(7);
    const options = { resolveDeadlineMs: 50, writeWaitMs: 200, connectTimeoutMs: 1000 };
    const ranges = { addresses: '10.0.0.0/26', ports: '30000-30063' };
    const proxies = await Promise.all([TcpProxy.start(postgres.port), TcpProxy.start(postgres.port)]);
    const processes = await Promise.all(
      proxies.map((proxy) => ServiceProcess.start(proxy.through(databaseUrl), undefined, ranges, options)),
    );
    let observer: ServiceProcess | undefined;
    const reasons = new Map<string, number>();
    const attempt = async (write: () => Promise<unknown>): Promise<void> => {
      try {
        await write();
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        reasons.set(error.reason, (reasons.get(error.reason) ?? 0) + 1);
      }
    };
    const isSomeOutcomeUnknown = () => (reasons.get('Timeout') ?? 0) > 0;
    let isDone = false;
    try {
      const cutting = (async () => {
        while (!isDone) {
          const proxy = proxies[random.below(2)] as TcpProxy;
          // Responses are held until something has certainly been sent, and are then lost.
          if (random.below(2) === 0) proxy.holdAnswers();
          await new Promise((resolve) => setTimeout(resolve, 5 + random.below(60)));
          proxy.cut(true);
          await new Promise((resolve) => setTimeout(resolve, random.below(120)));
          proxy.cut();
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      })();
      const writer = async (process: ServiceProcess): Promise<void> => {
        // On a fast machine 60 writes may all have ended before a cut leaves one of them unknown.
        for (let i = 0; i < 60 || (i < 5_000 && !isSomeOutcomeUnknown()); i++) {
          const name = `s${random.below(20)}`;
          const what = random.below(4);
          if (what === 0) await attempt(() => process.delete(name));
          else if (what === 1) {
            await attempt(() => process.change(name, ({ spec }) => Object.assign(spec, { type: 'ClusterIP' })));
          } else await attempt(() => process.create(name, { type: 'NodePort' }));
        }
      };
      await Promise.all([0, 1, 2, 3].map((i) => writer(processes[i % 2] as ServiceProcess)));
      isDone = true;
      await cutting;
      for (const process of processes) await process.stop();
      // The database may still execute statements that it received over a closed connection.
      await untilNoSessions(databaseUrl);

      observer = await ServiceProcess.start(databaseUrl, undefined, ranges);
      const { items } = await observer.storage.list({ resource: 'services' });
      const services = items.map(({ json }) => JSON.parse(json) as Service);
      const addresses = services.map(({ spec }) => spec.clusterIP as string).sort();
      const ports = services.flatMap(({ spec }) => (spec.ports ?? []).map(({ nodePort }) => nodePort ?? 0));
      const used = ports
        .filter((port) => port !== 0)
        .map(String)
        .sort();
      assert.equal(new Set(addresses).size, addresses.length, 'no address twice');
      assert.equal(new Set(used).size, used.length, 'no port twice');
      const allocated = await observer.allocated(addressResource);
      assert.deepEqual(
        addresses.filter((address) => !allocated.includes(address)),
        [],
        'every address is allocated',
      );
      assert.ok(isSomeOutcomeUnknown(), `some outcomes were unknown: ${JSON.stringify([...reasons])}`);

      const repair = repairOf(observer);
      for (let i = 0; i < 3; i++) await repair.round(never);
      assert.deepEqual(await observer.allocated(addressResource), addresses);
      assert.deepEqual(await observer.allocated(nodePortResource), used);
      assert.deepEqual(await events(observer), []);
    } finally {
      isDone = true;
      for (const process of processes) await process.stop();
      await observer?.stop();
      for (const proxy of proxies) await proxy.stop();
    }
  });
});
