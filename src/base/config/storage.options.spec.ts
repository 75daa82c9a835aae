import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseOptions } from './parse-options.js';
import { historyExclusions, StorageOptions } from './storage.options.js';

const parse = (...argv: string[]) =>
  parseOptions({ groups: { storage: StorageOptions }, argv, environment: {} }).storage;

describe('--history-exclude', () => {
  it('leaves out leases by the name that they have with the vendor of the cluster', () => {
    assert.deepEqual(historyExclusions(parse(), 'k8s.io'), ['leases.coordination.k8s.io']);
    assert.deepEqual(historyExclusions(parse(), 'example.dev'), ['leases.coordination.example.dev']);
  });

  it('leaves out what it names, and nothing else', () => {
    const named = parse('--history-exclude=events,things.example.com');
    assert.deepEqual(historyExclusions(named, 'example.dev'), ['events', 'things.example.com']);
    assert.deepEqual(historyExclusions(parse('--history-exclude='), 'example.dev'), []);
  });
});
