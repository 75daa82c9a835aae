import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject, ManagedFieldsEntry } from '../api-object.js';
import { sampleDeployment, sampleMap, sampleResource } from '../field-set/testing/sample-kinds.js';
import { decode, type KindType } from '../schema/index.js';
import { type ManagedFieldsOptions, updateManagedFields } from './index.js';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-02T00:00:00Z';

type Json = Record<string, unknown>;

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const child of Object.values(value)) freeze(child);
  }
  return value;
}

/** Decodes a body, tracks its fields and returns the object in stored form. */
function write(
  live: ApiObject | undefined,
  body: Json,
  manager: string,
  options: Partial<ManagedFieldsOptions> = {},
  type: KindType = sampleMap,
): ApiObject {
  const next = freeze(decode(type, body).value as ApiObject);
  const entries = updateManagedFields(type, live, next, { manager, apiVersion: 'v1', time: early, ...options });
  const { managedFields: _sent, ...metadata } = next.metadata;
  return freeze({ ...next, metadata: entries?.length ? { ...metadata, managedFields: entries } : metadata });
}

const owners = (object: ApiObject) => object.metadata.managedFields ?? [];
const fieldsOf = (object: ApiObject, manager: string) => owners(object).find((e) => e.manager === manager)?.fieldsV1;

const data = (fields: Record<string, string>, managedFields?: readonly ManagedFieldsEntry[]): Json => ({
  metadata: { name: 'm', ...(managedFields === undefined ? {} : { managedFields }) },
  data: fields,
});

test('the creator owns everything it set', () => {
  const created = write(undefined, data({ b: '2', a: '1' }), 'one');
  assert.deepEqual(owners(created), [
    {
      manager: 'one',
      operation: 'Update',
      apiVersion: 'v1',
      time: early,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } },
    },
  ]);
  assert.equal(JSON.stringify(owners(created)[0]?.fieldsV1), '{"f:data":{".":{},"f:a":{},"f:b":{}}}');
  assert.equal(owners(write(undefined, data({ a: '1' }), '')).at(0)?.manager, 'unknown');
  assert.deepEqual(owners(write(undefined, { metadata: { name: 'm' } }, 'one')), []);
});

test('a writer takes the fields that it changes and adds, and no others', () => {
  const created = write(undefined, data({ a: '1', b: '1' }), 'one');
  const changed = write(created, data({ a: '1', b: '2', c: '3' }), 'two', { time: late });
  assert.deepEqual(fieldsOf(changed, 'one'), { 'f:data': { '.': {}, 'f:a': {} } });
  assert.deepEqual(fieldsOf(changed, 'two'), { 'f:data': { 'f:b': {}, 'f:c': {} } });
  assert.deepEqual(
    owners(changed).map((entry) => entry.time),
    [early, late],
  );
});

test('a write that changes nothing keeps entries and times', () => {
  const created = write(undefined, data({ a: '1' }), 'one');
  const again = write(created, data({ a: '1' }), 'one', { time: late });
  assert.equal(owners(again)[0], owners(created)[0]);
  assert.deepEqual(owners(write(created, data({ a: '1' }), 'two', { time: late })), owners(created));
});

test('removed fields disappear, along with owners of nothing else', () => {
  const created = write(undefined, data({ a: '1' }), 'one');
  const added = write(created, data({ a: '1', b: '2' }), 'two');
  const removed = write(added, data({ a: '1' }), 'one', { time: late });
  assert.deepEqual(owners(removed), owners(created));
  assert.deepEqual(owners(write(added, { metadata: { name: 'm' } }, 'three')), []);
});

test('the same manager reuses its entry of the same version, and gets a new one for another', () => {
  const created = write(undefined, data({ a: '1' }), 'one');
  const same = write(created, data({ a: '1', b: '2' }), 'one', { time: late });
  assert.equal(owners(same).length, 1);
  assert.equal(owners(same)[0]?.time, late);
  const other = write(same, data({ a: '1', b: '3' }), 'one', { apiVersion: 'v2', time: late });
  assert.deepEqual(
    owners(other).map((e) => [e.apiVersion, Object.keys(e.fieldsV1?.['f:data'] ?? {})]),
    [
      ['v1', ['.', 'f:a']],
      ['v2', ['f:b']],
    ],
  );
  const status = write(created, data({ a: '1', c: '2' }), 'one', { subresource: 'status' });
  assert.deepEqual(
    owners(status).map((e) => e.subresource),
    [undefined, 'status'],
  );
});

test('clients that send no managedFields, or nonsense, change none', () => {
  const created = write(undefined, data({ a: '1' }), 'one');
  const entry = { manager: 'q', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
  const nonsense: ManagedFieldsEntry[][] = [
    [],
    [{ ...entry, fieldsV1: { bad: {} } }],
    [{ ...entry, operation: 'Frob' }],
    [{ ...entry, fieldsType: 'Other' }],
    [{ manager: 'q' }],
    [entry, { ...entry, apiVersion: '' }],
  ];
  for (const sent of nonsense) assert.deepEqual(owners(write(created, data({ a: '1' }, sent), 'two')), owners(created));
});

test('clients may rewrite managedFields', () => {
  const created = write(undefined, data({ a: '1' }), 'one');
  const sent = [
    {
      manager: 'q',
      operation: 'Apply',
      apiVersion: 'v1',
      time: early,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {}, '.': {} } },
    },
  ];
  const rewritten = write(created, data({ a: '1', b: '2' }, sent), 'two');
  assert.deepEqual(
    owners(rewritten).map((e) => [e.manager, JSON.stringify(e.fieldsV1)]),
    [
      ['q', '{"f:data":{".":{},"f:a":{}}}'],
      ['two', '{"f:data":{"f:b":{}}}'],
    ],
  );
});

test('one empty entry clears all owners first', () => {
  const created = write(undefined, data({ a: '1' }), 'one');
  assert.deepEqual(owners(write(created, data({ a: '1' }, [{}]), 'two')), []);
  const changed = write(created, data({ a: '1', b: '2' }, [{}]), 'two');
  assert.deepEqual(
    owners(changed).map((e) => [e.manager, e.fieldsV1]),
    [['two', { 'f:data': { 'f:b': {} } }]],
  );
});

test('an object without owners stays untracked', () => {
  const created = write(undefined, data({ a: '1' }), 'one');
  const cleared = write(created, data({ a: '1' }, [{}]), 'one');
  assert.deepEqual(owners(write(cleared, data({ a: '2' }), 'two')), []);
});

test('fields that a write cannot change keep their owners', () => {
  const resource = (phase: string, tags: string[]) => ({ metadata: { name: 'r' }, spec: { tags }, status: { phase } });
  const resetFields = { 'f:status': {} };
  const created = write(undefined, resource('Up', ['a']), 'one', {}, sampleResource);
  const updated = write(created, resource('Down', ['a', 'b']), 'two', { resetFields }, sampleResource);
  assert.deepEqual(fieldsOf(updated, 'one'), fieldsOf(created, 'one'));
  assert.deepEqual(fieldsOf(updated, 'two'), { 'f:spec': { 'f:tags': { 'v:"b"': {} } } });
});

test('owners of parts of a value that became atomic lose them with the next change', () => {
  const created = write(
    undefined,
    { metadata: {}, spec: { selector: { matchLabels: { a: 'b' } }, template: {}, replicas: 1 } },
    'one',
    {},
    sampleDeployment,
  );
  const granular = [
    {
      ...owners(created)[0],
      fieldsV1: { 'f:spec': { 'f:selector': { 'f:matchLabels': { 'f:a': {} } }, 'f:replicas': {} } },
    },
  ];
  const live = { ...created, metadata: { ...created.metadata, managedFields: granular } };
  const changed = write(
    live,
    { metadata: {}, spec: { selector: { matchLabels: { a: 'c' } }, template: {}, replicas: 1 } },
    'two',
    {},
    sampleDeployment,
  );
  assert.deepEqual(fieldsOf(changed, 'one'), { 'f:spec': { 'f:replicas': {} } });
  assert.deepEqual(fieldsOf(changed, 'two'), { 'f:spec': { 'f:selector': {} } });
});

test('entries of other versions see the change in their version', () => {
  const created = write(undefined, data({ a: '1', b: '1' }), 'one', { apiVersion: 'v0' });
  const third = write(created, data({ a: '1', b: '1', c: '1' }), 'unserved', { apiVersion: 'v9' });
  const convert = (object: ApiObject): ApiObject => {
    const { data: fields, ...rest } = object as ApiObject & { data?: Record<string, string> };
    return { ...rest, spec: { free: { ...fields } } };
  };
  const versions = (apiVersion: string) => (apiVersion === 'v0' ? { type: sampleResource, convert } : undefined);
  const entry = { ...owners(third)[0], fieldsV1: { 'f:spec': { 'f:free': { 'f:a': {}, 'f:b': {} } } } };
  const live = { ...third, metadata: { ...third.metadata, managedFields: [entry, ...owners(third).slice(1)] } };
  const changed = write(live, data({ a: '1', b: '2', c: '1' }), 'two', { versions });
  assert.deepEqual(
    owners(changed).map((e) => [e.manager, e.fieldsV1]),
    [
      ['one', { 'f:spec': { 'f:free': { 'f:a': {} } } }],
      ['two', { 'f:data': { 'f:b': {} } }],
    ],
  );
});

test('entries are ordered, and the oldest updaters of a version become one beyond ten', () => {
  let object = write(undefined, data({ a: '1' }), 'm00');
  const fields: Record<string, string> = { a: '1' };
  for (let i = 1; i < 13; i++) {
    fields[`k${i}`] = '1';
    object = write(object, data(fields), `m${String(i).padStart(2, '0')}`, { time: i < 6 ? early : late });
  }
  const names = ['ancient-changes', 'm04', 'm05', 'm06', 'm07', 'm08', 'm09', 'm10', 'm11', 'm12'];
  assert.deepEqual(
    owners(object).map((e) => e.manager),
    names,
  );
  assert.deepEqual(fieldsOf(object, 'ancient-changes'), {
    'f:data': { '.': {}, 'f:a': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} },
  });
});
