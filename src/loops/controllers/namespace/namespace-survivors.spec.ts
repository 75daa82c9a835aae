import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { loopParts } from '../../../../test/support/loop-parts.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { configMapResource } from '../../../modules/core/config-map/config-map.resource.js';
import { namespaceResource } from '../../../modules/core/namespace/namespace.resource.js';
import { ResourceRegistry, type StoredServedResource } from '../../../objects/registry/resource-registry.js';
import { Store } from '../../../objects/registry/store/store.js';
import { createPostgresStorage } from '../../../storage/postgres/postgres-storage.js';
import { workContext } from '../work-context.js';
import { NamespaceController } from './namespace.controller.js';

const names = vendorNames('k8s.io');
const rounds = 15;
/**
 * The upper limit of rounds: after the first ones, rounds go on until writes have come both during and after a
 * deletion.
 */
const mostRounds = 500;

let postgres: TestPostgres;
before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

it('nothing survives its namespace, whatever the process that writes it believes', async () => {
  const databaseUrl = await postgres.createTestDatabase();
  const registry = new ResourceRegistry();
  registry.register(configMapResource());
  registry.register(namespaceResource(names));
  const [remover, late] = [await createPostgresStorage({ databaseUrl }), await createPostgresStorage({ databaseUrl })];
  const stop = new AbortController();
  const context = workContext('test', 0, stop.signal);
  const validate = async () => {};
  const resource = (plural: string) => registry.findStoredResource('', 'v1', plural) as StoredServedResource;
  const namespaces = new Store(resource('namespaces'), remover, systemClock);
  // The late process never checks whether the namespace exists, as if its view of namespaces were frozen.
  const maps = new Store(resource('configmaps'), late, systemClock, undefined, { inLiveNamespaces: true });
  const controller = new NamespaceController({
    ...loopParts({ storage: remover, registry }),
    settleMs: 0,
    pauses: { firstMs: 1, longestMs: 10_000 },
  });
  const running = controller.run(stop.signal);
  const answers = new Map<string, number>();
  const haveCome = (reason: string) => (answers.get(reason) ?? 0) > 0;
  const isTested = () => haveCome('Forbidden') && haveCome('NotFound');
  try {
    for (let round = 0; round < rounds || (round < mostRounds && !isTested()); round++) {
      const namespace = `round-${round}`;
      const body = { metadata: { name: namespace }, spec: {}, status: {} } as unknown as ApiObject;
      await namespaces.create(context, body, { dryRun: false, validate });
      let isGone = false;
      const writer = async (id: number): Promise<void> => {
        for (let i = 0; !isGone || i < 3; i++) {
          const object = { metadata: { name: `m-${id}-${i}`, namespace }, data: {} } as unknown as ApiObject;
          try {
            await maps.create(context, object, { dryRun: false, validate });
            answers.set('made', (answers.get('made') ?? 0) + 1);
          } catch (error) {
            if (!(error instanceof StatusError)) throw error;
            answers.set(error.reason, (answers.get(error.reason) ?? 0) + 1);
          }
        }
        // Writes once more after the namespace has certainly disappeared.
        const object = { metadata: { name: `last-${id}`, namespace }, data: {} } as unknown as ApiObject;
        await assert.rejects(maps.create(context, object, { dryRun: false, validate }), { reason: 'NotFound' });
      };
      const writers = [1, 2, 3].map(writer);
      await namespaces.delete(context, '', namespace, { dryRun: false, validate });
      const key = { resource: 'namespaces', namespace: '', name: namespace };
      while ((await remover.get(key)) !== undefined) await new Promise((resolve) => setImmediate(resolve));
      isGone = true;
      await Promise.all(writers);
    }
    const { items } = await remover.list({ resource: 'configmaps' });
    assert.deepEqual(
      items.map(({ key }) => `${key.namespace}/${key.name}`),
      [],
    );
    assert.ok(haveCome('Forbidden'), `some came while a namespace ended: ${JSON.stringify([...answers])}`);
    assert.ok(haveCome('NotFound'), `some came after the end: ${JSON.stringify([...answers])}`);
  } finally {
    stop.abort();
    await running;
    await remover.stop();
    await late.stop();
  }
});
