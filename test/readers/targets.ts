import type { ResourceDefinition } from '../../src/objects/registry/resource-definition.js';
import { Random } from '../support/random.js';
import { validObject } from '../support/valid-objects.js';
import { type CustomDefinition, definitions, group } from './definitions.js';
import { HostileObjects } from './hostile-objects.js';
import { isObject, tamed } from './written-kinds.js';

type Json = Record<string, unknown>;

/** The ways in which an object can be created. */
export const creations = ['json', 'yaml', 'cbor', 'protobuf', 'apply'] as const;

/** A change of an object. */
export interface Patch {
  readonly body: string;
  readonly type: string;
  /** `/status`, or nothing. */
  readonly subresource: string;
}

/** An object that is to be written, and how. */
export interface Target {
  readonly collection: string;
  readonly name: string;
  readonly object: Json;
  /** Undefined for custom kinds. */
  readonly definition: ResourceDefinition | undefined;
  readonly creation: (typeof creations)[number];
  readonly patch: Patch | undefined;
}

/**
 * Makes the n-th object of a seed: always the same one, however many writers there are and whatever was answered. Half are
 * custom ones, and the others go through all kinds in turn.
 */
export function targetOf(seed: number, n: number, kinds: readonly ResourceDefinition[], namespace: string): Target {
  const random = new Random(Math.imul(seed, 0x9e3779b1) + n);
  const hostile = new HostileObjects(random);
  const kind = n % 2 === 0 ? undefined : (kinds[((n - 1) / 2) % kinds.length] as ResourceDefinition);
  const name = nameOf(kind, n);
  const made = kind === undefined ? custom() : builtIn(kind);
  const creation = random.pick(['json', 'json', 'json', 'yaml', 'cbor', 'protobuf', 'apply'] as const);
  return { ...made, name, creation, patch: random.chance(0.5) ? patchOf(made.definition) : undefined };

  function custom() {
    const definition = random.pick(definitions) as CustomDefinition;
    const spec = random.chance(0.3) ? hostile.object() : {};
    for (const field of definition.fields) {
      if (random.chance(0.3)) spec[field] = random.chance(0.4) ? hostile.number() : hostile.free();
    }
    if (definition.name === 'embedded' && random.chance(0.7)) {
      spec.object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, ...hostile.object() };
    }
    return {
      collection: `/apis/${group}/v1/namespaces/${namespace}/${definition.name}`,
      object: { apiVersion: `${group}/v1`, kind: definition.kind, metadata: { name }, spec } as Json,
      definition: undefined,
    };
  }

  function builtIn(definition: ResourceDefinition) {
    const object = structuredClone(validObject(definition, { name })) as Json;
    // The object of an event is in the namespace of the event.
    if (isObject(object.involvedObject)) object.involvedObject.namespace = namespace;
    if (isObject(object.regarding)) object.regarding.namespace = namespace;
    // Some kinds have rules that hardly any changed object keeps.
    const isChanged = random.chance(0.7);
    if (isChanged) hostile.change(definition.versions[0].type, object);
    if (!isChanged || random.chance(0.5))
      (object.metadata as Json).annotations = { a: hostile.text(), b: hostile.text() };
    tamed(definition, object);
    return { collection: collectionOf(definition, namespace), object, definition };
  }

  function patchOf(definition: ResourceDefinition | undefined): Patch {
    const field = definition === undefined ? 'spec' : random.pick(['data', 'spec', 'status', 'metadata']);
    const value = field === 'metadata' ? { annotations: { p: hostile.text() } } : hostile.object(1);
    const merge = JSON.stringify({ [field]: value });
    const strategic = definition === undefined ? 'merge-patch' : 'strategic-merge-patch';
    const [raw, type] = random.pick([
      [merge, 'application/merge-patch+json'],
      [merge, `application/${strategic}+json`],
      [JSON.stringify([{ op: 'add', path: `/${field}/x`, value: hostile.free(2) }]), 'application/json-patch+json'],
      [JSON.stringify([{ op: 'replace', path: `/${field}`, value }]), 'application/json-patch+json'],
    ] as const);
    const subresource = definition === undefined && random.chance(0.2) ? '/status' : '';
    return { body: subresource === '' ? raw : raw.replaceAll('spec', 'status'), type, subresource };
  }
}

/** Such as the check gives to objects. */
export const ownName = /^(?:o\d|10\.77\.)/;

/** Addresses are named by themselves, and versions of stored objects by a group and a resource. */
function nameOf(definition: ResourceDefinition | undefined, n: number): string {
  if (definition?.resource === 'ipaddresses') return `10.77.${(n >> 8) & 255}.${n & 255}`;
  return definition?.resource === 'storageversions' ? `example.com.o${n}` : `o${n}`;
}

/** The path of the objects of a kind. */
export function collectionOf(definition: ResourceDefinition, namespace: string): string {
  const { version, type } = definition.versions[0];
  const api = definition.group === '' ? `/api/${version}` : `/apis/${definition.group}/${version}`;
  const place = type.kind.scope === 'Namespaced' ? `/namespaces/${namespace}` : '';
  return `${api}${place}/${definition.resource}`;
}
