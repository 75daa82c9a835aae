import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { systemClock } from '../../../base/machinery/clock.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { always, kind, pointer, string, struct } from '../../../base/machinery/schema/index.js';
import { Lister } from '../informers/lister.js';
import { defineResource } from '../resource-definition.js';
import { ResourceRegistry, type StoredServedResource } from '../resource-registry.js';
import {
  encodeForStorage,
  listItemText,
  parseStored,
  parseText,
  spliceVersion,
  storedForm,
  toStored,
  type VersionedText,
} from './object-codec.js';
import { StorageReader } from './storage-reader.js';
import { Store } from './store.js';

const meta = struct('test.ObjectMeta', { name: pointer(1, string), namespace: pointer(2, string) });
const spec = struct('test.Spec', { size: pointer(1, string), colour: pointer(2, string) });
const thing = (version: string) =>
  kind({ group: 'shop', version, kind: 'Thing' }, { metadata: always(1, meta), spec: always(2, spec) });

type Thing = ApiObject & { spec: { size?: string; colour?: string; hue?: string } };

/**
 * The same kind in three releases of the program: the first, one with another default, and one that stores a newer
 * version.
 */
function registryOf(release: 1 | 2 | 3): ResourceRegistry {
  const beta = {
    version: 'v1beta1',
    type: thing('v1beta1'),
    toStored: (object: ApiObject) => {
      const { hue, ...rest } = (object as Thing).spec;
      return { ...object, spec: { ...rest, ...(hue === undefined ? {} : { colour: hue }) } } as ApiObject;
    },
  };
  const definition = defineResource<Thing>({
    group: 'shop',
    resource: 'things',
    singular: 'thing',
    kind: 'Thing',
    namespaced: true,
    versions: release === 3 ? [{ version: 'v1', type: thing('v1') }, beta] : [{ version: 'v1beta1', type: beta.type }],
    ...(release === 1 ? {} : { defaultsRevision: release - 1 }),
    strategy: {
      applyDefaults: (object) => {
        if (release > 1) object.spec.size ??= 'medium';
      },
    },
  });
  const registry = new ResourceRegistry();
  registry.register(definition);
  return registry;
}

const thingIn = (release: 1 | 2 | 3) => registryOf(release).findStored('things.shop') as StoredServedResource;
const [first, second, third] = [thingIn(1), thingIn(2), thingIn(3)];

function written(by: StoredServedResource, fields: Record<string, string>): string {
  const object: ApiObject = { metadata: { name: 'a', namespace: 'n', creationTimestamp: null }, spec: fields };
  return encodeForStorage(by, toStored(by, object));
}

function itemOf(text: VersionedText, resource: StoredServedResource): string {
  const { head, rest } = listItemText(text, storedForm(resource));
  return head + rest;
}

describe('stored text', () => {
  it('is answered byte for byte when it is up to date', () => {
    for (const resource of [first, second]) {
      const json = written(resource, { size: 'big' });
      const head = '{"kind":"Thing","apiVersion":"shop/v1beta1","metadata":{"resourceVersion":"7","name":"a",';
      const rest = '"namespace":"n","creationTimestamp":null},"spec":{"size":"big"}}';
      assert.equal(spliceVersion({ json, resourceVersion: 7n }, storedForm(resource)), head + rest);
      const item = head.replace('"kind":"Thing","apiVersion":"shop/v1beta1",', '') + rest;
      assert.equal(itemOf({ json, resourceVersion: 7n }, resource), item);
      const dry = spliceVersion({ json, resourceVersion: undefined }, storedForm(resource));
      assert.equal(dry, (head + rest).replace('"resourceVersion":"7",', ''));
    }
  });

  it('shows defaults that came after it was stored', () => {
    const json = written(first, { colour: 'red' });
    const text = { json, resourceVersion: 7n };
    const expected = { colour: 'red', size: 'medium' };
    assert.deepEqual((JSON.parse(spliceVersion(text, storedForm(second))) as Thing).spec, expected);
    assert.deepEqual((JSON.parse(itemOf(text, second)) as Thing).spec, expected);
    assert.deepEqual((parseText(second, json) as Thing).spec, expected);
    assert.equal(parseStored(second, text).metadata.resourceVersion, '7');
    assert.deepEqual((parseText(first, json) as Thing).spec, { colour: 'red' });
  });

  it('keeps fields that were left open on purpose since', () => {
    const json = written(second, { colour: 'red' });
    assert.deepEqual((parseText(second, json) as Thing).spec, { colour: 'red' });
  });

  it('is understood by an older program on the same database', () => {
    const json = written(second, { size: 'medium' });
    const answered = JSON.parse(spliceVersion({ json, resourceVersion: 7n }, storedForm(first))) as Thing;
    assert.deepEqual(answered.spec, { size: 'medium' });
    assert.equal(answered.metadata.resourceVersion, '7');
  });

  it('is converted when it was stored in another version', () => {
    const json = written(first, { hue: 'red' });
    const text = { json, resourceVersion: 7n };
    const answered = JSON.parse(spliceVersion(text, storedForm(third))) as Thing;
    assert.equal(answered.apiVersion, 'shop/v1');
    assert.deepEqual(answered.spec, { colour: 'red', size: 'medium' });
    assert.deepEqual((parseText(third, json) as Thing).spec, answered.spec);
  });
});

describe('a store over older texts', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;
  const validate = async () => {};
  const context = {
    requestInfo: { apiVersion: 'v1beta1' },
    user: { name: 'u', groups: [] },
    warnings: [],
  } as unknown as RequestContext;

  before(async () => {
    postgres = await startTestPostgres();
    storage = await openTestStorage(await postgres.createTestDatabase());
  });

  after(async () => {
    await storage.stop();
    await postgres.stop();
  });

  it('shows them in the present form to every reader, for every kind of read', async () => {
    const old = new Store(first, storage, systemClock);
    const metadata = { name: 'b', namespace: 'n', creationTimestamp: null };
    const body = toStored(first, { metadata, spec: { hue: 'red' } } as unknown as ApiObject);
    await old.create(context, body, { dryRun: false, validate });
    const registry = registryOf(3);
    const expected = { colour: 'red', size: 'medium' };

    const read = await new StorageReader(storage, registry).read({ group: 'shop', resource: 'things' }, 'n', 'b');
    assert.deepEqual([read?.apiVersion, read?.spec], ['shop/v1', expected]);

    const stop = new AbortController();
    const lister = new Lister(storage, registry, 'things.shop', (object) => object.spec, assert.ifError);
    await lister.start(stop.signal);
    assert.deepEqual(lister.get('n', 'b'), expected);
    stop.abort();
    await lister.stopped();
  });

  it('brings them up to date with the next write, even one that changes nothing', async () => {
    const old = new Store(first, storage, systemClock);
    const metadata = { name: 'a', namespace: 'n', creationTimestamp: null };
    const made = await old.create(context, { metadata, spec: { colour: 'red' } }, { dryRun: false, validate });

    const store = new Store(second, storage, systemClock);
    const keep = { dryRun: false, validate, transform: (live: ApiObject | undefined) => live as ApiObject };
    const updated = await store.update(context, 'n', 'a', keep);
    assert.ok((updated.resourceVersion as bigint) > (made.resourceVersion as bigint));
    const { json } = await store.get('n', 'a');
    assert.ok(json.startsWith(storedForm(second).prefix), json);
    assert.deepEqual((JSON.parse(json) as Thing).spec, { colour: 'red', size: 'medium' });

    const again = await store.update(context, 'n', 'a', keep);
    assert.equal(again.resourceVersion, updated.resourceVersion);
  });
});
