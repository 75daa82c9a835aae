import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkIdentity } from './body-errors.js';
import { isKnownElsewhere } from './known-versions.js';

const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };
const event = { group: '', version: 'v1', kind: 'Event' };

it('bodies may be in versions that the release knows beside the expected one', () => {
  for (const apiVersion of ['apps/v1beta1', 'apps/v1beta2', 'extensions/v1beta1']) {
    assert.ok(isKnownElsewhere(apiVersion, deployment), apiVersion);
  }
  for (const apiVersion of ['apps/v2', 'v1', 'batch/v1beta1', 'a/b/c', 'extensions/v1']) {
    assert.ok(!isKnownElsewhere(apiVersion, deployment), apiVersion);
  }
  assert.ok(isKnownElsewhere('events.k8s.io/v1', event));
  assert.ok(isKnownElsewhere('v1', { ...event, group: 'events.k8s.io' }));
  assert.ok(!isKnownElsewhere('v1beta1', event));
});

it('the refusal of such a body names both versions', () => {
  assert.throws(() => checkIdentity({ kind: 'Deployment', apiVersion: 'apps/v1beta1' }, deployment), {
    message: 'the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)',
  });
  assert.throws(() => checkIdentity({ kind: 'Deployment', apiVersion: 'apps/v9' }, deployment), {
    message: /^Deployment in version "v9" cannot be handled as a Deployment: no kind "Deployment" is registered/,
  });
});
