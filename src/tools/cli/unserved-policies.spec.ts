import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdmissionPluginName } from '../../base/config/admission.options.js';
import type { ServedResource } from '../../objects/registry/resource-registry.js';
import { unservedPolicies } from './unserved-policies.js';

const served = { findServed: () => ({}) as ServedResource };
const unserved = { findServed: () => undefined };
const on = (...enableAdmissionPlugins: AdmissionPluginName[]) => ({
  enableAdmissionPlugins,
  disableAdmissionPlugins: [],
});

describe('a warning about pod security policies', () => {
  it('appears when the plugin is on and the policies are not served', () => {
    assert.match(unservedPolicies(on('PodSecurityPolicy'), unserved) ?? '', /no pod is admitted.*policy\/v1beta1/);
    assert.equal(unservedPolicies(on('PodSecurityPolicy'), served), undefined);
    assert.equal(unservedPolicies(on(), unserved), undefined);
  });
});
