import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectMeta } from '../../../base/machinery/api-object.js';
import { collectErrors, type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { StoredResource } from '../resource-definition.js';
import { refuseBrokenRules } from './broken-rules.js';
import { oversizedMetadata, validateMetadata, validateMetadataUpdate } from './validate-metadata.js';

const definition = { group: '', kind: 'Thing', resource: 'things', versions: [{ version: 'v1' }] };

function refusal(check: () => FieldError[]): StatusError {
  try {
    refuseBrokenRules(definition as unknown as StoredResource, { metadata: { name: 'a' } }, check);
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return error;
  }
  throw new Error('nothing was refused');
}

function metaErrors(meta: object): FieldError[] {
  return validateMetadata({ name: 'a', namespace: 'b', ...meta } as ObjectMeta, true, () => []);
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

describe('broken rules', () => {
  it('are looked for until there are a thousand', () => {
    let looked = 0;
    const check = (count: number) => () =>
      times(count, (i) => {
        looked++;
        return invalid(FieldPath.of('spec').index(i), i, 'is wrong');
      });
    assert.equal(refusal(check(1000)).details?.causes?.length, 1000);
    assert.doesNotMatch(refusal(check(1000)).message, /more/);
    looked = 0;
    const { code, details, message } = refusal(check(500_000));
    assert.equal(code, 422);
    assert.equal(looked, 1001);
    assert.equal(details?.causes?.length, 1000);
    assert.match(message, /spec\[999\]: Invalid value: 999: is wrong, and more\]$/);
  });

  it('are collected only by the present check', () => {
    const error = () => invalid(FieldPath.of('a'), 1, 'x');
    const { errors, hasMore } = collectErrors(2, () => [
      error(),
      ...collectErrors(1, () => [error(), error()]).errors,
      error(),
    ]);
    assert.equal(errors.length, 3);
    assert.equal(hasMore, false);
    assert.equal(times(5000, error).length, 5000);
  });

  it('show the beginning of a long value', () => {
    const value = 'x'.repeat(3_000_000);
    const [error] = collectErrors(1, () => [invalid(FieldPath.of('a'), value, 'x')]).errors;
    assert.ok((error?.message.length ?? 0) < 5000);
    const list = times(100_000, (i) => `name-${i}`);
    assert.ok(invalid(FieldPath.of('a'), list, 'x').message.length < 5000);
  });
});

describe('metadata', () => {
  it('has 256 KiB of labels, annotations and finalizers', () => {
    const half = Object.fromEntries(times(2_000, (i) => [`k${i}`, 'v'.repeat(60)]));
    assert.deepEqual(metaErrors({ labels: half, annotations: half, finalizers: ['a.b/c'] }), []);
    const many = Object.fromEntries(times(100_000, (i) => [`-k${i}`, '-']));
    const names = times(100_000, (i) => `-f${i}`);
    for (const [field, value] of [
      ['labels', many],
      ['annotations', many],
      ['finalizers', names],
    ] as const) {
      assert.deepEqual(metaErrors({ [field]: value }), [
        {
          type: 'FieldValueTooLong',
          field: `metadata.${field}`,
          message: 'Too long: may not be more than 262144 bytes',
        },
      ]);
    }
  });

  it('may have many owners and managers, up to a limit', () => {
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
    const entry = { manager: 'm', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
    assert.deepEqual(metaErrors({ ownerReferences: times(2_000, () => owner) }), []);
    assert.deepEqual(metaErrors({ managedFields: times(1_000, () => entry) }), []);
    const tooMany = (field: string, actual: number, max: number) => [
      {
        type: 'FieldValueTooMany',
        field: `metadata.${field}`,
        message: `Too many: ${actual}: must have at most ${max} items`,
      },
    ];
    assert.deepEqual(
      metaErrors({ ownerReferences: times(45_000, () => ({})) }),
      tooMany('ownerReferences', 45_000, 2_000),
    );
    assert.deepEqual(metaErrors({ managedFields: times(12_000, () => ({})) }), tooMany('managedFields', 12_000, 1_000));
  });

  it('is refused for its size before anything else is done', () => {
    const many = Object.fromEntries(times(100_000, (i) => [`k${i}`, 'v']));
    const names = times(100_000, (i) => `f${i}`);
    const parts = { labels: many, annotations: many, finalizers: names, ownerReferences: names, managedFields: names };
    assert.deepEqual(
      oversizedMetadata(parts).map(({ field }) => field),
      Object.keys(parts).map((name) => `metadata.${name}`),
    );
    for (const odd of [undefined, null, 1, { labels: [], annotations: null, finalizers: {} }, { labels: { a: 1 } }]) {
      assert.deepEqual(oversizedMetadata(odd), []);
    }
  });

  it('has finalizers without a prefix only where its kind allows them', () => {
    assert.deepEqual(validateMetadataUpdate({ finalizers: ['plain'] }, {}, { plainFinalizers: true }), []);
    assert.equal(validateMetadataUpdate({ finalizers: ['plain'] }, {}).length, 1);
  });

  it('gets no new finalizers while it is deleted', () => {
    const old = { name: 'a', deletionTimestamp: 'x', finalizers: ['a.b/c', 'a.b/d'] } as unknown as ObjectMeta;
    assert.deepEqual(validateMetadataUpdate({ ...old, finalizers: ['a.b/d'] }, old), []);
    const [error] = validateMetadataUpdate({ ...old, finalizers: ['a.b/d', 'a.b/e'] }, old);
    assert.match(error?.message ?? '', /found new finalizers \[\]string\{"a.b\/e"\}$/);
  });
});
