import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../src/base/machinery/api-object.js';
import { formFaults, rootView } from '../../src/base/machinery/field-set/index.js';
import type { JsonObject } from '../../src/base/machinery/patch/json-value.js';
import { decode, jsonFields, type KindType, type StructType } from '../../src/base/machinery/schema/index.js';
import { decodeProtobuf, encodeProtobuf } from '../../src/base/machinery/schema/protobuf/index.js';
import type { ServedResource } from '../../src/objects/registry/resource-registry.js';
import {
  encodeForStorage,
  isPresentForm,
  listItemText,
  parseStored,
  spliceVersion,
  storedForm,
  toServed,
  toStored,
} from '../../src/objects/registry/store/object-codec.js';
import { declaredTypes } from '../support/declared-types.js';
import { Random, seedVariable, testSeeds } from '../support/random.js';
import { RandomValues } from '../support/random-values.js';
import { registeredGroups } from '../support/registered-groups.js';

const objectsPerKind = 6;

const { kinds, structs } = await declaredTypes();
const seeds = testSeeds('round trips');

/** The canonical form; random values must fit their type, or the generator is wrong. */
function canonical<T extends object>(type: StructType, input: unknown): T {
  const { value, unknownFields } = decode(type, input);
  assert.deepEqual(unknownFields, [], type.name);
  return value as T;
}

/** Runs `check` on random objects of a kind; a failure shows how to repeat the run. */
function forRandomObjects(type: KindType, check: (object: ApiObject) => void): void {
  for (const seed of seeds) {
    const values = new RandomValues(new Random(seed));
    for (let i = 0; i < objectsPerKind; i++) {
      const input = values.valueOf(type);
      try {
        check(canonical(type, input));
      } catch (error) {
        throw new Error(`${type.name}, object ${i} of ${seedVariable}=${seed}: ${JSON.stringify(input)}`, {
          cause: error,
        });
      }
    }
  }
}

describe('canonical form', () => {
  it('is decoded to itself, for every kind', () => {
    for (const type of kinds) {
      forRandomObjects(type, (object) => {
        const text = JSON.stringify(object);
        assert.equal(JSON.stringify(canonical(type, JSON.parse(text))), text);
      });
    }
  });
});

describe('an applied object', () => {
  it('has no undeclared field and no value of another form, for every kind', () => {
    for (const type of kinds) {
      forRandomObjects(type, (object) => {
        const written = JSON.parse(JSON.stringify(object)) as JsonObject;
        // Random lists have equal elements, too.
        const faults = formFaults(rootView(type), written, false).filter(
          (fault) => !/: (duplicate|element \d)/.test(fault),
        );
        assert.deepEqual(faults, []);
      });
    }
  });

  it('may name the kinds of the objects in it', () => {
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c' }, spec: {} };
    const type = kinds.find(({ name }) => name === 'apps.v1.StatefulSet') ?? assert.fail();
    assert.deepEqual(formFaults(rootView(type), { spec: { volumeClaimTemplates: [claim] } }, false), []);
  });
});

/** The order of other keys beside one that looks like an index is not kept, as nothing reads it in that order. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Object.getPrototypeOf(part) !== Object.prototype) return part;
    const members = Object.entries(part);
    if (!/^\d+$/.test(members[0]?.[0] ?? '')) return part;
    return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

describe('protobuf', () => {
  it('gives back every object of every kind', () => {
    assert.ok(kinds.length > 150, String(kinds.length));
    for (const type of kinds) {
      forRandomObjects(type, (object) => {
        const { kind, apiVersion } = object;
        const back = decodeProtobuf(type, encodeProtobuf(type, object));
        assert.equal(textOf({ kind, apiVersion, ...(back as object) }), textOf(object));
      });
    }
  });

  it('returns every single field of every struct', () => {
    for (const seed of seeds) {
      const values = new RandomValues(new Random(seed));
      for (const type of structs.values()) {
        for (const field of jsonFields(type).values()) {
          const value = canonical<object>(type, { [field.name]: values.partOf(field.type) });
          const back = decodeProtobuf(type, encodeProtobuf(type, value));
          const place = `${type.name}.${field.name}, ${seedVariable}=${seed}`;
          assert.equal(textOf(back), textOf(value), place);
        }
      }
    }
  });
});

/** Every resource under every version. */
async function servedResources(): Promise<readonly ServedResource[]> {
  const { registry } = await registeredGroups();
  return registry
    .definitions()
    .flatMap(({ group, resource, versions }) =>
      versions.map(({ version }) => registry.find(group, version, resource) as ServedResource),
    );
}

/**
 * Fields that an older version shows in addition to the written ones: `v1` of an autoscaler repeats the state of its
 * metrics in an annotation.
 */
function withoutAddedAnnotations(object: ApiObject, original: ApiObject): ApiObject {
  const { annotations } = object.metadata;
  if (annotations === undefined) return object;
  const kept = Object.entries(annotations).filter(
    ([key]) => !key.startsWith('autoscaling.alpha.') || Object.hasOwn(original.metadata.annotations ?? {}, key),
  );
  const metadata = { ...object.metadata, annotations: Object.fromEntries(kept) };
  if (kept.length === 0) delete (metadata as Partial<typeof metadata>).annotations;
  return { ...object, metadata };
}

/** Changes a random object of an older version to one that its clients would write. */
const consistent: Readonly<Record<string, (object: ApiObject) => void>> = {
  // The node of an endpoint is also among its labels.
  'discovery.v1beta1.EndpointSlice': (object) => {
    type Endpoint = { nodeName?: string; topology?: Record<string, string> };
    for (const endpoint of (object as unknown as { endpoints: Endpoint[] | null }).endpoints ?? []) {
      if (endpoint.nodeName === undefined) continue;
      endpoint.topology = { ...endpoint.topology, 'kubernetes.io/hostname': endpoint.nodeName };
    }
  },
  // The stored version has the properties of a device beside its name.
  'resource.v1beta1.ResourceSlice': (object) => {
    const { devices } = (object as unknown as { spec: { devices?: { basic?: object }[] | null } }).spec;
    for (const device of devices ?? []) device.basic ??= {};
  },
};

const resources = await servedResources();

describe('stored form', () => {
  it('gives back every object of every version', () => {
    assert.ok(resources.length > 50, String(resources.length));
    for (const resource of resources) {
      const { type } = resource.served;
      forRandomObjects(type, (object) => {
        object.kind = resource.definition.kind;
        object.apiVersion = resource.apiVersion;
        object.metadata.resourceVersion = '7';
        consistent[type.name]?.(object);
        const original = canonical<ApiObject>(type, object);
        const json = encodeForStorage(resource, toStored(resource, structuredClone(original)));
        assert.ok(isPresentForm(resource, json), json.slice(0, 200));
        const parsed = parseStored(resource, { json, resourceVersion: 7n });
        const back = canonical<ApiObject>(type, toServed(resource, parsed));
        assert.equal(JSON.stringify(withoutAddedAnnotations(back, original)), JSON.stringify(original));
        // The addition is not a part of the object: it does not add up.
        const again = toServed(resource, toStored(resource, structuredClone(back)));
        assert.equal(JSON.stringify(canonical(type, again)), JSON.stringify(back));
      });
    }
  });

  it('is answered unchanged, with its version', () => {
    for (const resource of resources.filter(({ isStored }) => isStored)) {
      const { type } = resource.served;
      forRandomObjects(type, (object) => {
        object.kind = resource.definition.kind;
        object.apiVersion = resource.apiVersion;
        object.metadata.resourceVersion = '7';
        const original = JSON.stringify(canonical(type, object));
        const text = { json: encodeForStorage(resource, object), resourceVersion: 7n };
        const answered = JSON.parse(spliceVersion(text, storedForm(resource))) as ApiObject;
        assert.equal(JSON.stringify(canonical(type, answered)), original);
        const { head, rest } = listItemText(text, storedForm(resource));
        const item = JSON.parse(head + rest) as ApiObject;
        const { kind, apiVersion } = object;
        assert.equal(JSON.stringify(canonical(type, { kind, apiVersion, ...item })), original);
      });
    }
  });

  it('has several versions of some resources', () => {
    const converted = resources.filter(({ served }) => served.fromStored !== undefined);
    assert.ok(converted.length >= 5, converted.map((resource) => resource.apiVersion).join());
  });
});
