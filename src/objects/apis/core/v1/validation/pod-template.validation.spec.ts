import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testNames } from '../../../../../../test/support/definition-tester.js';
import { podSpecOf, validContainer } from '../../../../../../test/support/pod-rules.js';
import { FieldPath } from '../../../../../base/machinery/field-error.js';
import { podWarnings } from '../pod-warnings.js';
import { profileAnnotations } from '../profile-annotations.js';
import { validatePodTemplateSpec } from './pod-template.validation.js';

const { appArmorPrefix, seccompPod, seccompPrefix } = profileAnnotations(testNames);

function templateOf(annotations: Record<string, string>, spec: Record<string, unknown> = {}) {
  return { metadata: { annotations }, spec: podSpecOf(spec) };
}

function judge(annotations: Record<string, string>, spec?: Record<string, unknown>): string[] {
  const path = FieldPath.of('spec', 'template');
  return validatePodTemplateSpec(templateOf(annotations, spec), path, { names: testNames }).map(
    ({ field, message }) => `${field} | ${message}`,
  );
}

describe('annotations of a pod template', () => {
  it('follow the rules of those of pods, with a path without metadata', () => {
    assert.deepEqual(judge({ [`controller.${testNames.labelPrefix}/pod-deletion-cost`]: 'x' }), [
      `spec.template.annotations[controller.${testNames.labelPrefix}/pod-deletion-cost] | Invalid value: "x": must be a 32bit integer`,
    ]);
    assert.deepEqual(judge({ [`${testNames.labelPrefix}/config.mirror`]: 'x' }), [
      `spec.template.annotations[${testNames.labelPrefix}/config.mirror] | Invalid value: "x": must set spec.nodeName if mirror pod annotation is set`,
    ]);
    assert.deepEqual(judge({ [seccompPod]: 'odd', [`${seccompPrefix}c`]: 'runtime/default' }), [
      `spec.template.annotations.${seccompPod} | Invalid value: "odd": must be a valid seccomp profile`,
    ]);
    assert.deepEqual(judge({ [`${appArmorPrefix}other`]: 'localhost/' }), [
      `spec.template.annotations[${appArmorPrefix}other] | Invalid value: "other": container not found`,
    ]);
  });

  it('must say what the field of the container, or of the pod, says', () => {
    const container = { ...validContainer, securityContext: { seccompProfile: { type: 'RuntimeDefault' } } };
    assert.deepEqual(judge({ [`${seccompPrefix}c`]: 'unconfined' }, { containers: [container] }), [
      'spec.template.spec.containers[0].securityContext.seccompProfile.type | Forbidden: seccomp type in annotation and field must match',
    ]);
    const ofPod = { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } } };
    assert.deepEqual(judge({ [`${appArmorPrefix}c`]: 'localhost/x' }, ofPod), []);
    assert.deepEqual(judge({ [`${appArmorPrefix}c`]: 'localhost/y' }, ofPod), [
      'spec.template.spec.containers[0].securityContext.appArmorProfile.localhostProfile | Forbidden: apparmor profile in annotation and field must match',
    ]);
    assert.deepEqual(judge({ [`${appArmorPrefix}c`]: '' }, ofPod), [
      'spec.template.spec.containers[0].securityContext.appArmorProfile.type | Forbidden: apparmor type in annotation and field must match',
    ]);
  });

  it('cause warnings where a field is missing', () => {
    const annotations = { [`${appArmorPrefix}c`]: 'unconfined' };
    assert.deepEqual(podWarnings(templateOf(annotations), 'spec.template.', testNames), [
      `spec.template.metadata.annotations[${appArmorPrefix}c]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    ]);
    const ofPod = { securityContext: { appArmorProfile: { type: 'Unconfined' } } };
    assert.deepEqual(podWarnings(templateOf(annotations, ofPod), 'spec.template.', testNames), []);
  });
});
