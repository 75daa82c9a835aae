import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../base/machinery/status-error.js';
import { patchTypeOf } from './patch.js';

describe('the type of a patch', () => {
  it('is what its media type says, whatever its parameters', () => {
    assert.equal(patchTypeOf('application/json-patch+json'), 'json');
    assert.equal(patchTypeOf('Application/Merge-Patch+JSON; charset=utf-8'), 'merge');
    assert.equal(patchTypeOf('application/strategic-merge-patch+json'), 'strategic');
  });

  it('is a 415 for any other media type, including names that every object inherits', () => {
    for (const type of [undefined, '', 'application/json', 'constructor', '__proto__', 'toString']) {
      assert.throws(
        () => patchTypeOf(type),
        (error) => error instanceof StatusError && error.code === 415,
        type,
      );
    }
  });
});
