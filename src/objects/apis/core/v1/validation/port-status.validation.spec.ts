import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FieldPath } from '../../../../../base/machinery/field-error.js';
import { validatePortStatuses } from './port-status.validation.js';

const causes = (port: object) =>
  validatePortStatuses([{ port: 80, protocol: 'TCP', ...port }], FieldPath.of('ports')).map(({ field }) => field);

describe('validatePortStatuses', () => {
  it('takes errors in CamelCase, with the domain of their provider or without', () => {
    for (const error of [undefined, 'MixedProtocols', 'example.com/NoAddress', 'a.b/C']) {
      assert.deepEqual(causes({ error }), [], String(error));
    }
  });

  it('refuses errors in other forms', () => {
    for (const error of ['', 'no address', 'Example.com/A', '/A', 'a/', 'a/b/c', '-A', 'a'.repeat(317)]) {
      assert.ok(causes({ error }).includes('ports[0].error'), error);
    }
  });

  it('refuses what is no port or protocol', () => {
    assert.deepEqual(causes({ port: 0, protocol: 'X' }), ['ports[0].port', 'ports[0].protocol']);
  });
});
