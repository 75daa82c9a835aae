import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../../src/base/machinery/schema/index.js';
import { Metrics } from '../../src/base/observability/metrics.js';
import { metaKinds } from '../../src/objects/apis/meta/v1/meta-kinds.js';
import { verbsOf } from '../../src/objects/registry/resource-definition.js';
import type { ServedResource } from '../../src/objects/registry/resource-registry.js';
import { encodeForStorage, toServed, toStored } from '../../src/objects/registry/store/object-codec.js';
import { parseSelection } from '../../src/objects/registry/store/selection.js';
import { EndpointServices } from '../../src/server/endpoints/endpoint-services.js';
import { WatchEncoder } from '../../src/server/endpoints/handlers/watch-encoder.js';
import type { IncludeObject } from '../../src/server/endpoints/negotiation/include-object.js';
import { itemForm, metadataItem, shownItem } from '../../src/server/endpoints/negotiation/item-form.js';
import { servedObject } from '../../src/server/endpoints/negotiation/respond.js';
import { RunBytes } from '../../src/server/endpoints/negotiation/run-bytes.js';
import { writeTableRow } from '../../src/server/endpoints/negotiation/table-row.js';
import { partialMetadata, tableOf } from '../../src/server/endpoints/negotiation/transform.js';
import { FormBlocks } from '../../src/storage/cacher/form-blocks.js';
import type { StoredObject } from '../../src/storage/storage.interface.js';
import { testNames } from '../support/definition-tester.js';
import { Random, testSeeds } from '../support/random.js';
import { RandomValues } from '../support/random-values.js';
import { registeredGroups } from '../support/registered-groups.js';

const objectsPerKind = 4;

const stores = await registeredGroups();

const services = new EndpointServices(
  stores,
  testNames,
  new Metrics(),
  {
    maxBodyBytes: 1,
    minRequestTimeoutSeconds: 1,
    maxConnectionBytesPerSecond: 0,
    shutdown: new AbortController().signal,
    listPageSize: 1,
    deleteCollectionWorkers: 1,
    garbageCollector: false,
  },
  metaKinds,
);

function encoderOf(resource: ServedResource, accept: string, include: IncludeObject = 'Metadata'): WatchEncoder {
  const selection = parseSelection(resource, new URLSearchParams());
  return new WatchEncoder(services, resource, selection, '', services.accept.negotiate(accept, true), include);
}

/** Every resource that can be watched, in each version. */
function watched(): ServedResource[] {
  const found: ServedResource[] = [];
  for (const definition of stores.registry.definitions()) {
    if (!verbsOf(definition).includes('watch')) continue;
    for (const { version } of definition.versions) {
      const resource = stores.registry.find(definition.group, version, definition.resource);
      assert.ok(resource);
      found.push(resource);
    }
  }
  return found;
}

const resources = watched();
const vendor = 'application/vnd.kubernetes.protobuf';
const forms = [
  'application/json',
  vendor,
  ...['Table', 'PartialObjectMetadata'].flatMap((as) =>
    ['v1', 'v1beta1'].flatMap((version) => [
      `application/json;as=${as};g=meta.k8s.io;v=${version}`,
      ...(as === 'Table' ? [] : [`${vendor};as=${as};g=meta.k8s.io;v=${version}`]),
    ]),
  ),
];

describe('bookmarks', () => {
  it('are encoded for every kind, version and form', () => {
    assert.ok(resources.length > 50, String(resources.length));
    for (const resource of resources) {
      for (const form of forms) {
        for (const include of ['None', 'Metadata', 'Object'] as const) {
          for (const isEnd of [false, true]) {
            const bytes = encoderOf(resource, form, include).encodeBookmark(7n, isEnd);
            if (!form.startsWith('application/json')) continue;
            const { type, object } = JSON.parse(bytes.toString());
            assert.equal(type, 'BOOKMARK');
            assert.equal(object.metadata.resourceVersion, '7');
            if (object.kind !== 'Table') continue;
            // As in the release, rows of addresses have one more cell than columns.
            const more = resource.storageResource.startsWith('ipaddresses') ? 1 : 0;
            assert.equal(object.rows[0].cells.length, object.columnDefinitions.length + more);
          }
        }
      }
    }
  });

  it('show an object with every field that all objects of the kind have', () => {
    const pods = stores.registry.find('', 'v1', 'pods');
    assert.ok(pods);
    const { object } = JSON.parse(encoderOf(pods, 'application/json').encodeBookmark(7n, false).toString());
    assert.deepEqual(object, {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { resourceVersion: '7' },
      spec: { containers: null },
      status: {},
    });
    for (const resource of resources) {
      const bookmark = JSON.parse(encoderOf(resource, 'application/json').encodeBookmark(7n, false).toString());
      assert.equal(bookmark.object.apiVersion, resource.apiVersion);
      const { value, unknownFields } = decode(resource.served.type, bookmark.object);
      assert.deepEqual(unknownFields, []);
      assert.equal(JSON.stringify(decode(resource.served.type, value).value), JSON.stringify(value));
    }
  });
});

/** Random objects of every resource, as they are stored. */
function* storedObjects(purpose: string): Generator<{ resource: ServedResource; item: StoredObject }> {
  for (const seed of testSeeds(purpose)) {
    const values = new RandomValues(new Random(seed));
    for (const resource of resources) {
      for (let i = 0; i < objectsPerKind; i++) {
        const served = decode(resource.served.type, values.valueOf(resource.served.type)).value;
        const stored = toStored(resource, served as Parameters<typeof toStored>[1]);
        const json = encodeForStorage(resource, stored);
        // There must be one at all: some random objects fit one version only.
        toServed(resource, JSON.parse(json));
        const key = { resource: resource.storageResource, namespace: 'a', name: 'b' };
        yield { resource, item: { key, uid: 'u', resourceVersion: 7n, json } };
      }
    }
  }
}

const keptForms = () => new FormBlocks(() => 1024 * 1024);

describe('events', () => {
  it('are encoded for every kind, version and form, with any content of the objects, as are kept forms', () => {
    for (const { resource, item } of storedObjects('events of watches')) {
      const kept = keptForms();
      for (const form of forms) {
        const encode = (from?: FormBlocks) =>
          encoderOf(resource, form, 'Object').encodeInitial(item, { allocate: Buffer.allocUnsafe }, from) as Buffer;
        const encoded = encode();
        assert.ok(encoded.length > 0);
        for (const when of ['made', 'found']) assert.ok(encode(kept).equals(encoded), `${form}, ${when}: ${item.json}`);
        const text = encoderOf(resource, form, 'Object').initialText(item);
        if (text !== undefined) assert.equal(text, encoded.toString());
      }
    }
  });
});

describe('items of lists', () => {
  it('are the same whether they are kept, spliced from stored text or made of the object', () => {
    const work = { characters: 0 };
    for (const { resource, item } of storedObjects('items of lists')) {
      const kept = keptForms();
      const object = servedObject(resource, item);
      const itemOf = (accept: string) => {
        const form = itemForm(services, resource, services.accept.negotiate(accept, true));
        const [made, found] = [0, 1].map(() => {
          const { source, start, end } = shownItem(resource, form, item, kept, work);
          return Buffer.from(source.subarray(start, end));
        }) as [Buffer, Buffer];
        assert.ok(made.equals(found));
        assert.ok(made.equals(form.encode(servedObject(resource, item))));
        return made;
      };
      const parsed = (text: string) => JSON.parse(text.replace(/^,/, ''));
      const { kind: _kind, apiVersion: _apiVersion, ...rest } = parsed(JSON.stringify(object));
      assert.deepEqual(parsed(itemOf('application/json').toString()), rest);
      itemOf(vendor);
      for (const version of ['v1', 'v1beta1'] as const) {
        const metadata = parsed(JSON.stringify(partialMetadata(testNames, object, version)));
        const accept = `;as=PartialObjectMetadata;g=meta.k8s.io;v=${version}`;
        assert.deepEqual(parsed(itemOf(`application/json${accept}`).toString()), metadata);
        itemOf(vendor + accept);
        const spliced = metadataItem(services, resource, item, version, work);
        assert.equal(spliced !== undefined, resource.isStored);
        if (spliced !== undefined) assert.deepEqual(parsed(spliced), metadata);
        for (const include of ['None', 'Metadata', 'Object'] as const) {
          const form = { version, include };
          for (const when of ['made', 'found']) {
            const bytes = new RunBytes();
            const isWritten = writeTableRow(services, resource, item, form, kept, work, bytes);
            const row = isWritten ? bytes.view(0, bytes.length).toString() : undefined;
            // The time between the two calls may show in an age of seconds.
            const table = () => parsed(JSON.stringify(tableOf(services, resource, [object], {}, form)));
            const wanted = table().rows[0];
            assert.equal(row !== undefined, resource.isStored);
            if (row !== undefined) assert.deepEqual(withoutAges(parsed(row)), withoutAges(wanted), `${when} ${row}`);
          }
        }
      }
    }
  });
});

function withoutAges(row: { cells: unknown[]; object: unknown }): unknown {
  const cells = row.cells.map((cell) => (typeof cell === 'string' ? cell.replace(/^(\d+[smhdy]){1,2}$/, 'age') : cell));
  return { ...row, cells };
}
