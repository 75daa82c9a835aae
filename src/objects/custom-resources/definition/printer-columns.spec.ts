import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';
import { printerColumns } from './printer-columns.js';

const column = (name: string, jsonPath: string) => ({ name, type: 'string', jsonPath });
const cellsOf = (columns: ReturnType<typeof printerColumns>, object: object) =>
  columns.map(({ cell }) => cell(object as ApiObject));

describe('printer columns', () => {
  it('look at a limited number of values of one object, and as many of the next', () => {
    const columns = printerColumns([column('A', '.spec.a'), column('All', '..n'), column('B', '.spec.a')]);
    const small = { metadata: { name: 's' }, spec: { a: 'x', n: 1 } };
    const large = { metadata: { name: 'l' }, spec: { a: 'x', l: Array.from({ length: 40_000 }, () => ({ n: 1 })) } };
    assert.deepEqual(cellsOf(columns, small), ['s', 'x', '1', 'x']);
    assert.deepEqual(cellsOf(columns, large), ['l', 'x', null, null]);
    assert.deepEqual(cellsOf(columns, small), ['s', 'x', '1', 'x']);
    assert.deepEqual(cellsOf(columns, large), ['l', 'x', null, null]);
  });

  it('show objects and lists as JSON, and whole numbers exactly', () => {
    const whole = { name: 'I', type: 'integer', jsonPath: '.spec.i' };
    const columns = printerColumns([column('O', '.spec.o'), column('L', '.spec.l'), column('S', '.spec.s'), whole]);
    const spec = { o: { b: '<', a: [null, 1] }, l: [1, 'x'], s: 5, i: new ExactNumber('12345678901234567') };
    assert.deepEqual(cellsOf(columns, { metadata: { name: 'n' }, spec }).slice(1), [
      '{"a":[null,1],"b":"\\u003c"}',
      '[1,"x"]',
      '5',
      12345678901234567n,
    ]);
  });
});
