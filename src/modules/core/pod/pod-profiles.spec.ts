import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames, testStores } from '../../../../test/support/definition-tester.js';
import { profileAnnotations } from '../../../objects/apis/core/v1/profile-annotations.js';
import { podResource } from './pod.resource.js';

const tester = new DefinitionTester(podResource(testNames, testStores()));
const valid = { spec: { containers: [{ name: 'c', image: 'img:1' }] } };

describe('profiles in annotations of pods', () => {
  it('takes AppArmor profiles from annotations', () => {
    const key = (name: string) => `container.apparmor.security.beta.${testNames.labelPrefix}/${name}`;
    const annotated = (annotations: Record<string, string>) => tester.create({ metadata: { annotations }, ...valid });
    const { object } = annotated({ [key('c')]: 'localhost/p' });
    const [first] = (object.spec as { containers: { securityContext?: unknown }[] }).containers;
    assert.deepEqual(first?.securityContext, { appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } });
    assert.deepEqual(annotated({ [key('z')]: 'odd' }).causes, [
      `FieldValueInvalid | metadata.annotations[${key('z')}] | Invalid value: "z": container not found`,
      `FieldValueInvalid | metadata.annotations[${key('z')}] | Invalid value: "odd": invalid AppArmor profile name: "odd"`,
    ]);
  });

  it('refuses profiles in annotations that are none, or contradict a field', () => {
    const { appArmorPrefix, seccompPod, seccompPrefix } = profileAnnotations(testNames);
    const causesOf = (annotations: Record<string, string>, spec: object) =>
      tester.create({ metadata: { annotations }, spec: { ...valid.spec, ...spec } }).causes;
    const seccomp = (type: string, localhostProfile?: string) => ({
      securityContext: { seccompProfile: { type, ...(localhostProfile === undefined ? {} : { localhostProfile }) } },
    });
    const typeText = 'Forbidden: seccomp type in annotation and field must match';
    for (const [text, type, isSame] of [
      ['unconfined', 'Unconfined', true],
      ['unconfined', 'RuntimeDefault', false],
      ['runtime/default', 'RuntimeDefault', true],
      ['docker/default', 'RuntimeDefault', true],
      ['docker/default', 'Unconfined', false],
      ['localhost/x', 'RuntimeDefault', false],
    ] as const) {
      const expected = `FieldValueForbidden | spec.securityContext.seccompProfile.type | ${typeText}`;
      assert.deepEqual(causesOf({ [seccompPod]: text }, seccomp(type)), isSame ? [] : [expected], `${text} ${type}`);
    }
    assert.deepEqual(causesOf({ [seccompPod]: 'localhost/y' }, seccomp('Localhost', 'x')), [
      'FieldValueForbidden | spec.securityContext.seccompProfile.localhostProfile | Forbidden: seccomp profile in annotation and field must match',
    ]);
    assert.deepEqual(causesOf({ [`${seccompPrefix}other`]: 'odd', [seccompPod]: 'localhost/../x' }, {}), [
      `FieldValueInvalid | metadata.annotations.${seccompPod} | Invalid value: "../x": must not contain '..'`,
      `FieldValueInvalid | metadata.annotations.${seccompPrefix}other | Invalid value: "odd": must be a valid seccomp profile`,
    ]);
    const [container] = valid.spec.containers;
    const containers = [{ ...container, securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }];
    assert.deepEqual(causesOf({ [`${appArmorPrefix}c`]: 'unconfined' }, { containers }), [
      'FieldValueForbidden | spec.containers[0].securityContext.appArmorProfile.type | Forbidden: apparmor type in annotation and field must match',
    ]);
  });
});
