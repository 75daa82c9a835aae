import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { readClusterTolerations } from './toleration-configuration.js';

const head = { apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1', kind: 'Configuration' };
const read = (value: unknown) => readClusterTolerations({ value, source: 'f' }, vendorNames('k8s.io'));

describe('the configuration of PodTolerationRestriction', () => {
  it('is read', () => {
    const one = { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 0 };
    const { tolerations, problems } = read({ ...head, default: [one], whitelist: [{ operator: 'Exists' }] });
    assert.deepEqual(problems, []);
    assert.deepEqual(tolerations, { default: [one], whitelist: [{ operator: 'Exists' }] });
    assert.deepEqual(read(head).tolerations, { default: [], whitelist: [] });
  });

  it('shows all its faults at once', () => {
    const faulty = {
      kind: 'Other',
      more: 1,
      default: [{ key: 1, tolerationSeconds: 'x' }, 'text', { effects: 'NoSchedule' }],
      whitelist: [
        { operator: 'Maybe', key: 'a' },
        { key: 'a', value: 'b c' },
      ],
    };
    assert.deepEqual(read(faulty).problems, [
      'f: unknown field more',
      'f: kind must be Configuration',
      'f: apiVersion must be podtolerationrestriction.admission.k8s.io/v1alpha1',
      'f: default[0].key must be a string',
      'f: default[0].tolerationSeconds must be a whole number',
      'f: default[1] must be an object',
      'f: unknown field default[2].effects',
      'f: whitelist[0].operator: Unsupported value: "Maybe": supported values: "Equal", "Exists"',
      "f: whitelist[1].operator: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ]);
    assert.deepEqual(read({ ...head, whitelist: {} }).problems, ['f: whitelist must be a list']);
    assert.equal(read('text').problems[0], 'f: must be an object');
  });
});
