import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { always, type KindType, kind, optional, string, struct } from '../../base/machinery/schema/index.js';
import {
  defineComputedResource,
  defineResource,
  defineVirtualResource,
  partOf,
  type ResourceDefinition,
  subresourcesOf,
  verbsOf,
} from './resource-definition.js';
import { ResourceRegistry } from './resource-registry.js';
import { bodyKindOf, type SubresourceDefinition, subresourceVerbs, updateRulesOf } from './subresource-definition.js';

const metadata = struct('meta.v1.ObjectMeta', { name: optional(1, string) });
const type: KindType = kind({ group: 'shop', version: 'v1', kind: 'Thing' }, { metadata: always(1, metadata) });
const identity = {
  group: 'shop',
  resource: 'things',
  singular: 'thing',
  kind: 'Thing',
  namespaced: true,
  versions: [{ version: 'v1', type }],
} as const;
const body = { kind: type.kind, type };

const part: SubresourceDefinition = {
  type: 'part',
  name: 'status',
  verbs: ['get', 'update'],
  prepareForUpdate: () => {},
  validateUpdate: () => [],
};
const view: SubresourceDefinition = {
  type: 'view',
  name: 'scale',
  body,
  verbs: ['get'],
  read: (parent) => parent,
  write: (_context, parent) => parent,
  intent: () => ({}),
};
const created: SubresourceDefinition = {
  type: 'created',
  name: 'binding',
  body,
  write: (_context, parent) => parent,
  validateUpdate: () => [],
  createAnswer: (_context, sent) => sent,
};
const virtual: SubresourceDefinition = {
  type: 'virtual',
  name: 'token',
  body,
  perform: async (_context, action) => action.body,
};

const stored = defineResource({ ...identity, strategy: {}, subresources: [part, view, created, virtual] });
const question = defineVirtualResource({ ...identity, resource: 'questions', answer: (_context, object) => object });
const computed = defineComputedResource({ ...identity, resource: 'results', compute: async () => [] });

// Impossible definitions must not compile: an unused expect-error line is an error itself.

/** Definitions of resources. */
export const refusedDefinitions: ResourceDefinition[] = [
  // @ts-expect-error a stored kind answers nothing
  { ...identity, type: 'stored', strategy: {}, answer: (_context: unknown, object: ApiObject) => object },
  // @ts-expect-error a stored kind has a strategy
  { ...identity, type: 'stored' },
  // @ts-expect-error a virtual kind has no subresources
  { ...identity, type: 'virtual', answer: (_context, object) => object, subresources: [part] },
  // @ts-expect-error a virtual kind can be created and nothing else
  { ...identity, type: 'virtual', answer: (_context, object) => object, verbs: ['create', 'get'] },
  // @ts-expect-error nothing is stored of a virtual kind
  { ...identity, type: 'virtual', answer: (_context, object) => object, storedAs: { group: '', resource: 'things' } },
  // @ts-expect-error a virtual kind answers
  { ...identity, type: 'virtual' },
  // @ts-expect-error a computed kind can't be written
  { ...identity, type: 'computed', compute: async () => [], verbs: ['update'] },
  // @ts-expect-error a computed kind has no defaults to bring up to date
  { ...identity, type: 'computed', compute: async () => [], defaultsRevision: 1 },
  // @ts-expect-error a kind is either computed or virtual
  { ...identity, type: 'computed', compute: async () => [], answer: (_context: unknown, object: ApiObject) => object },
];

/** Definitions of subresources. */
export const refusedSubresources: SubresourceDefinition[] = [
  // @ts-expect-error a part is of the parent's kind
  { ...part, body },
  // @ts-expect-error a part says what it may not change
  { type: 'part', name: 'status', verbs: ['get'], validateUpdate: () => [] },
  // @ts-expect-error a part is not created
  { type: 'part', name: 'status', verbs: ['create'], prepareForUpdate: () => {}, validateUpdate: () => [] },
  // @ts-expect-error a view has a kind
  { type: 'view', name: 'scale', verbs: ['get'], read: (parent) => parent, write: (_context, parent) => parent },
  // @ts-expect-error a view can be read
  { type: 'view', name: 'scale', body, verbs: ['get'], write: (_context, parent) => parent },
  // @ts-expect-error a created object is not read
  { ...created, type: 'created', read: (parent: ApiObject) => parent },
  // @ts-expect-error a created object is written into the parent
  { type: 'created', name: 'binding', body, validateUpdate: () => [], createAnswer: (_context, sent) => sent },
  // @ts-expect-error nothing virtual is read
  { ...virtual, read: (parent: ApiObject) => parent },
  // @ts-expect-error a virtual one does something
  { type: 'virtual', name: 'token', body },
];

/** Never called; only its types are checked. */
export function readStrategy(definition: ResourceDefinition): unknown {
  // @ts-expect-error only a stored kind has a strategy
  return definition.strategy;
}

describe('the sorts of resources', () => {
  it('have the verbs that can work', () => {
    assert.equal(verbsOf(stored).length, 8);
    assert.deepEqual(verbsOf(question), ['create']);
    assert.deepEqual(verbsOf(computed), ['get', 'list']);
    assert.deepEqual(verbsOf(defineResource({ ...identity, strategy: {}, verbs: ['get'] })), ['get']);
  });

  it('are found as stored resources only when they are stored', () => {
    const registry = new ResourceRegistry();
    for (const definition of [stored, question, computed]) registry.register(definition);
    assert.equal(registry.findStoredResource('shop', 'v1', 'things')?.definition, stored);
    assert.equal(registry.findStoredResource('shop', 'v1', 'questions'), undefined);
    assert.equal(registry.findStored('results.shop'), undefined);
    assert.equal(registry.find('shop', 'v1', 'results')?.definition, computed);
  });
});

describe('the sorts of subresources', () => {
  it('have the verbs, kinds and rules that can work', () => {
    const shown = subresourcesOf(stored).map((subresource) => [
      subresource.name,
      subresourceVerbs(subresource),
      bodyKindOf(subresource)?.kind.kind,
      updateRulesOf(subresource) === subresource,
    ]);
    assert.deepEqual(shown, [
      ['status', ['get', 'update'], undefined, true],
      ['scale', ['get'], 'Thing', false],
      ['binding', ['create'], 'Thing', true],
      ['token', ['create'], 'Thing', false],
    ]);
    assert.deepEqual([...subresourcesOf(question), ...subresourcesOf(computed)], []);
  });

  it('are found by the name of a part', () => {
    assert.equal(partOf(stored, 'status'), part);
    assert.throws(() => partOf(stored, 'scale'), /things have no part scale/);
  });
});
