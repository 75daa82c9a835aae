import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes } from '../../../../../test/support/admission-attributes.js';
import { admissionOperations } from '../../attributes.js';
import { AlwaysDeny } from './always-deny.js';

describe('AlwaysDeny', () => {
  it('refuses every operation in both phases', () => {
    const plugin = new AlwaysDeny();
    const message = /^StatusError: pods "x" is forbidden: admission control is denying all modifications$/;
    for (const operation of admissionOperations) {
      assert.ok(plugin.handles());
      const attributes = admissionAttributes({ operation, object: { metadata: { name: 'x' } } });
      assert.throws(() => plugin.admit(attributes), message);
      assert.throws(() => plugin.validate(attributes), message);
    }
  });
});
