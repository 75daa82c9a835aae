import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonPatch, PatchError } from './index.js';

const object = Object.freeze({
  data: Object.freeze({ a: '1', b: '2' }),
  list: Object.freeze(['x', 'y']),
  annotations: Object.freeze({ 'a/b': '1', 'm~n': '2' }),
});

function failure(patch: readonly unknown[], document: unknown = object): PatchError {
  try {
    applyJsonPatch(document, patch);
  } catch (error) {
    assert.ok(error instanceof PatchError, String(error));
    return error;
  }
  assert.fail('the patch was applied');
}

test('operations apply in order and do not change the original document', () => {
  const result = applyJsonPatch(object, [
    { op: 'test', path: '/data/a', value: '1' },
    { op: 'replace', path: '/data/a', value: '11' },
    { op: 'add', path: '/data/c', value: '3' },
    { op: 'remove', path: '/data/b' },
    { op: 'add', path: '/list/-', value: 'z' },
    { op: 'add', path: '/list/0', value: 'w' },
    { op: 'remove', path: '/list/1' },
    { op: 'move', from: '/data/c', path: '/moved' },
    { op: 'copy', from: '/list', path: '/copied' },
    { op: 'add', path: '/list/-', value: 'only here' },
  ]) as Record<string, unknown>;
  assert.deepEqual(result.data, { a: '11' });
  assert.deepEqual(result.list, ['w', 'y', 'z', 'only here']);
  assert.deepEqual(result.copied, ['w', 'y', 'z']);
  assert.equal(result.moved, '3');
  assert.equal(result.annotations, object.annotations);
  assert.deepEqual(object.list, ['x', 'y']);
});

test('values of the patch are not changed by later operations', () => {
  const value = { inner: { n: 1 } };
  const result = applyJsonPatch({}, [
    { op: 'add', path: '/a', value },
    { op: 'copy', from: '/a', path: '/b' },
    { op: 'replace', path: '/b/inner/n', value: 2 },
    { op: 'add', path: '/a/inner/m', value: 3 },
  ]);
  assert.deepEqual(result, { a: { inner: { n: 1, m: 3 } }, b: { inner: { n: 2 } } });
  assert.deepEqual(value, { inner: { n: 1 } });
});

test('pointers may have escapes and may name the whole document', () => {
  assert.deepEqual(applyJsonPatch(object, [{ op: 'test', path: '/annotations/a~1b', value: '1' }]), object);
  assert.deepEqual(applyJsonPatch(object, [{ op: 'test', path: '/annotations/m~0n', value: '2' }]), object);
  assert.deepEqual(applyJsonPatch(object, [{ op: 'replace', path: '', value: { n: 1 } }]), { n: 1 });
  assert.deepEqual(applyJsonPatch({ '': 1 }, [{ op: 'replace', path: '/', value: 2 }]), { '': 2 });
});

test('a test for null holds for an absent member', () => {
  assert.equal(applyJsonPatch(object, [{ op: 'test', path: '/data/none', value: null }]), object);
  failure([{ op: 'test', path: '/data/a', value: null }]);
});

test('a replace adds an absent member', () => {
  const replaced = (document: object, path: string) => applyJsonPatch(document, [{ op: 'replace', path, value: 1 }]);
  assert.deepEqual(replaced({ data: { a: 2 } }, '/data/b'), { data: { a: 2, b: 1 } });
  assert.deepEqual(replaced({}, '/a'), { a: 1 });
  assert.deepEqual(replaced({ a: null }, '/a'), { a: 1 });
});

test('a null is a value', () => {
  const document = { n: null };
  assert.deepEqual(applyJsonPatch(document, [{ op: 'remove', path: '/n' }]), {});
  assert.deepEqual(applyJsonPatch(document, [{ op: 'move', from: '/n', path: '/m' }]), { m: null });
  assert.deepEqual(applyJsonPatch(document, [{ op: 'copy', from: '/n', path: '/m' }]), { n: null, m: null });
  assert.deepEqual(applyJsonPatch(document, [{ op: 'replace', path: '/m', value: null }]), { n: null, m: null });
  assert.deepEqual(applyJsonPatch(document, [{ op: 'test', path: '/n' }]), document);
  failure([{ op: 'add', path: '/n/m', value: 1 }], document);
});

test('negative indexes count from the end', () => {
  const list = (...patch: object[]) => (applyJsonPatch({ list: ['x', 'y'] }, patch) as { list: string[] }).list;
  assert.deepEqual(list({ op: 'replace', path: '/list/-1', value: 'z' }), ['x', 'z']);
  assert.deepEqual(list({ op: 'replace', path: '/list/-2', value: 'z' }), ['z', 'y']);
  assert.deepEqual(list({ op: 'remove', path: '/list/-1' }), ['x']);
  assert.deepEqual(list({ op: 'remove', path: '/list/-2' }), ['y']);
  assert.deepEqual(list({ op: 'add', path: '/list/-1', value: 'z' }), ['x', 'y', 'z']);
  assert.deepEqual(list({ op: 'add', path: '/list/-3', value: 'z' }), ['z', 'x', 'y']);
  assert.deepEqual(list({ op: 'copy', from: '/list/-2', path: '/list/-' }), ['x', 'y', 'x']);
  assert.deepEqual(list({ op: 'move', from: '/list/-1', path: '/list/0' }), ['y', 'x']);
  assert.deepEqual(list({ op: 'test', path: '/list/-1', value: 'y' }), ['x', 'y']);
});

test('failing operations are unprocessable', () => {
  const patches: unknown[][] = [
    [{ op: 'test', path: '/data/a', value: 'nope' }],
    [{ op: 'remove', path: '/data/zzz' }],
    [{ op: 'replace', path: '/none/zzz', value: 1 }],
    [{ op: 'replace', path: '/list/2', value: 1 }],
    [{ op: 'replace', path: '/list/-', value: 1 }],
    [{ op: 'replace', path: '/list/-3', value: 1 }],
    [{ op: 'replace', path: '/data/a/b', value: 1 }],
    [{ op: 'replace', path: '/data/a' }],
    [{ op: 'add', path: '/none/zzz', value: 1 }],
    [{ op: 'add', path: '/data/a/b', value: 1 }],
    [{ op: 'add', path: '/list/3', value: 1 }],
    [{ op: 'add', path: '/list/-4', value: 1 }],
    [{ op: 'add', path: '/list/01', value: 1 }],
    [{ op: 'add', path: '/list/+1', value: 1 }],
    [{ op: 'add', path: '/list/-0', value: 1 }],
    [{ op: 'remove', path: '/none/zzz' }],
    [{ op: 'remove', path: '/list/-' }],
    [{ op: 'remove', path: '/list/2' }],
    [{ op: 'remove', path: '/list/-3' }],
    [{ op: 'remove', path: '/list/x' }],
    [{ op: 'frob', path: '/data/a' }],
    [{ op: 'add', value: 'x' }],
    [{ op: 'add', path: '/x' }],
    [{ op: 'add', path: 'x', value: 1 }],
    [{ op: 'copy', path: '/x' }],
    [{ op: 'copy', from: '/none', path: '/x' }],
    [{ op: 'copy', from: '/none/zzz', path: '/x' }],
    [{ op: 'copy', from: '/list/2', path: '/x' }],
    [{ op: 'copy', from: '/list/-', path: '/x' }],
    [{ op: 'move', from: '/none', path: '/x' }],
    [{ op: 'move', from: '/list/-', path: '/x' }],
    [{ op: 'test', path: '/none/zzz', value: null }],
    [{ op: 'test', path: '/none', value: 1 }],
    [{ op: 'test', path: '/list/2', value: null }],
    [{ op: 'test', path: '/data/a' }],
    [{ op: 'move', from: '/data', path: '/data/inner' }],
    [{ op: 'remove', path: '' }],
  ];
  for (const patch of patches) {
    const error = failure(patch);
    assert.equal(error.reason, 'Invalid', JSON.stringify(patch));
    assert.equal(error.code, 422);
    assert.ok(error.fault);
    assert.deepEqual(error.details, {});
    assert.equal(error.message, 'the server rejected our request due to an error in our request');
  }
});

test('the fault names the operation and where it failed, in the words that clients know', () => {
  const document = { data: { a: '1' }, list: ['x'] };
  const faults: readonly (readonly [operation: Record<string, unknown>, fault: string])[] = [
    [
      { op: 'remove', path: '/a~1b' },
      "error in remove for path: '/a~1b': Unable to remove nonexistent key: a/b: missing value",
    ],
    [{ op: 'remove', path: '/no/x' }, 'remove operation does not apply: doc is missing path: "/no/x": missing value'],
    [{ op: 'remove', path: '' }, 'remove operation does not apply: doc is missing path: "": missing value'],
    [
      { op: 'remove', path: '/list/5' },
      "error in remove for path: '/list/5': Unable to access invalid index: 5: invalid index referenced",
    ],
    [
      { op: 'remove', path: '/list/x' },
      `error in remove for path: '/list/x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [
      { op: 'replace', path: '/no/x', value: 1 },
      'replace operation does not apply: doc is missing path: /no/x: missing value',
    ],
    [
      { op: 'replace', path: '/list/7', value: 1 },
      'replace operation does not apply: doc is missing key: /list/7: missing value',
    ],
    [
      { op: 'add', path: '/data/a/b', value: 1 },
      'add operation does not apply: doc is missing path: "/data/a/b": missing value',
    ],
    [
      { op: 'add', path: '/list/9', value: 1 },
      "error in add for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
    ],
    [
      { op: 'add', path: '/list/x', value: 1 },
      `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [
      { op: 'move', from: '/no', path: '/x' },
      "error in move for path: 'no': Unable to remove nonexistent key: no: missing value",
    ],
    [
      { op: 'move', from: '/no/y', path: '/x' },
      'move operation does not apply: doc is missing from path: /no/y: missing value',
    ],
    [
      { op: 'move', from: '/data/a', path: '/no/x' },
      'move operation does not apply: doc is missing destination path: /no/x: missing value',
    ],
    [
      { op: 'copy', from: '/no/y', path: '/x' },
      'copy operation does not apply: doc is missing from path: /no/y: missing value',
    ],
    [
      { op: 'copy', from: '/data/a', path: '/no/x' },
      'copy operation does not apply: doc is missing destination path: /no/x: missing value',
    ],
    [{ op: 'test', path: '/data/a', value: 2 }, 'testing value /data/a failed: test failed'],
    [{ op: 'test', path: '/no/z', value: 2 }, 'test operation does not apply: is missing path: /no/z: missing value'],
    [{ op: 'add', path: '', value: {} }, 'add operation does not apply: doc is missing path: "": missing value'],
    [
      { op: 'copy', from: '', path: '/data/a' },
      'copy operation does not apply: doc is missing from path: : missing value',
    ],
    [{ op: 'move', from: '', path: '' }, 'move operation does not apply: doc is missing from path: : missing value'],
    [{ op: 'frob', path: '/data' }, 'Unexpected kind: frob'],
    [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
  ];
  for (const [operation, fault] of faults) assert.equal(failure([operation], document).fault, fault);
  const long = failure([{ op: 'remove', path: `/${'x'.repeat(5000)}` }]);
  assert.ok(long.fault.length < 500);
});

test('entries that are not operations are refused', () => {
  assert.equal(failure([1]).reason, 'BadRequest');
  assert.equal(failure([null]).reason, 'Invalid');
});

test('size limits', () => {
  const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' }));
  assert.match(failure(many).message, /^Request entity too large: .*10000, got 10001$/);
  assert.equal(failure(many).code, 413);
  const doubling = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/c${i}` }));
  assert.equal(failure(doubling, { a: { text: 'x'.repeat(100) } }).reason, 'RequestEntityTooLarge');
});

test('a patch that copies much says so before it goes on', () => {
  const doubling = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/c${i}` }));
  const stop = () => {
    throw new RangeError('stopped');
  };
  assert.throws(() => applyJsonPatch({ a: { text: 'x'.repeat(100) } }, doubling, stop), /stopped/);
  assert.ok(applyJsonPatch({ a: { text: 'x' } }, doubling.slice(0, 3), stop));
});

test('__proto__ and inherited names are only keys', () => {
  const added = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]) as object;
  assert.equal((added as { polluted?: boolean }).polluted, undefined);
  assert.deepEqual(Object.keys(added), ['__proto__']);
  failure([{ op: 'add', path: '/__proto__/polluted', value: true }]);
  failure([{ op: 'add', path: '/constructor/prototype/polluted', value: true }]);
  failure([{ op: 'remove', path: '/data/toString' }]);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});
