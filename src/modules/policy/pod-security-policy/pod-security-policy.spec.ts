import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { podSecurityPolicyResource } from './pod-security-policy.resource.js';

const any = { rule: 'RunAsAny' };
const base = { seLinux: any, runAsUser: any, fsGroup: any, supplementalGroups: any };

describe('PodSecurityPolicy', () => {
  const tester = new DefinitionTester(podSecurityPolicyResource(testNames));
  const causes = (spec: object) => tester.create({ spec: { ...base, ...spec } }).causes;

  it('allows privilege escalation by default', () => {
    const { object } = tester.create({
      spec: { ...base, privileged: true, allowedCapabilities: ['A', 'B'], volumes: ['*', 'csi'] },
    });
    assert.equal((object.spec as { allowPrivilegeEscalation?: boolean }).allowPrivilegeEscalation, true);
    const cells = ['a', 'true', 'A,B', 'RunAsAny', 'RunAsAny', 'RunAsAny', 'RunAsAny', false, '*,csi'];
    assert.deepEqual(tester.cells(object), cells);
  });

  it('requires every rule', () => {
    assert.deepEqual(
      tester.create({ spec: {} }).causes.map((cause) => cause.split(' | ')[1]),
      ['spec.runAsUser.rule', 'spec.seLinux.rule', 'spec.supplementalGroups.rule', 'spec.fsGroup.rule'],
    );
  });

  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    [
      'ranges',
      {
        runAsUser: {
          rule: 'MustRunAs',
          ranges: [
            { min: 5, max: 1 },
            { min: -1, max: -1 },
          ],
        },
        runAsGroup: { rule: 'x' },
      },
      [
        'FieldValueInvalid | spec.runAsUser.ranges[0].min | Invalid value: 5: min cannot be greater than max',
        'FieldValueInvalid | spec.runAsUser.ranges[1].min | Invalid value: -1: min cannot be negative',
        'FieldValueInvalid | spec.runAsUser.ranges[1].max | Invalid value: -1: max cannot be negative',
        'FieldValueNotSupported | spec.runAsGroup.rule | Unsupported value: "x": supported values: "MustRunAs", "RunAsAny", "MayRunAs"',
      ],
    ],
    [
      'capabilities',
      { defaultAddCapabilities: ['A'], requiredDropCapabilities: ['A', 'C'], allowedCapabilities: ['C', '*'] },
      [
        'FieldValueInvalid | requiredDropCapabilities | Invalid value: ["A","C"]: must be empty when all capabilities are allowed by a wildcard',
        'FieldValueInvalid | defaultAddCapabilities | Invalid value: "A": capability is listed in defaultAddCapabilities and requiredDropCapabilities',
        'FieldValueInvalid | allowedCapabilities | Invalid value: "C": capability is listed in allowedCapabilities and requiredDropCapabilities',
      ],
    ],
    [
      'escalation',
      { allowPrivilegeEscalation: false, defaultAllowPrivilegeEscalation: true },
      [
        'FieldValueInvalid | spec.defaultAllowPrivilegeEscalation | Invalid value: true: Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true',
      ],
    ],
    [
      'empty names',
      { allowedHostPaths: [{}], allowedFlexVolumes: [{}] },
      [
        'FieldValueRequired | spec.allowedHostPaths[0] | Required value: is required',
        'FieldValueRequired | spec.allowedFlexVolumes.allowedFlexVolumes[0].driver | Required value: must specify a driver',
      ],
    ],
    [
      'sysctls',
      { allowedUnsafeSysctls: ['*', 'a.*', 'a..b'], forbiddenSysctls: ['', 'a.b'] },
      [
        'FieldValueInvalid | spec.allowedUnsafeSysctls[2] | Invalid value: "a..b": must have at most 253 characters and match regex ([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]',
        "FieldValueForbidden | spec.allowedUnsafeSysctls.items | Forbidden: if '*' is present, must not specify other sysctls",
        'FieldValueInvalid | spec.forbiddenSysctls[0] | Invalid value: "": empty sysctl not allowed',
        'FieldValueInvalid | spec.forbiddenSysctls[0] | Invalid value: "": sysctl overlaps with *',
        'FieldValueInvalid | spec.forbiddenSysctls[1] | Invalid value: "a.b": sysctl overlaps with *',
        'FieldValueInvalid | spec.forbiddenSysctls[1] | Invalid value: "a.b": sysctl overlaps with a.*',
      ],
    ],
    [
      'runtime classes',
      { runtimeClass: { allowedRuntimeClassNames: ['a', 'a'], defaultRuntimeClassName: 'b' } },
      [
        'FieldValueDuplicate | spec.runtimeClass.allowedRuntimeClassNames[1] | Duplicate value: "a"',
        'FieldValueRequired | spec.runtimeClass.allowedRuntimeClassNames | Required value: default "b" must be allowed',
      ],
    ],
  ];
  for (const [name, spec, expected] of cases) it(`judges ${name}`, () => assert.deepEqual(causes(spec), expected));

  it('refuses unknown volume types and profiles', () => {
    assert.match(
      causes({ volumes: ['x'] })[0] as string,
      /^FieldValueNotSupported \| spec\.volumes \| Unsupported value: "x"/,
    );
    const key = 'seccomp.security.alpha.kubernetes.io/allowedProfileNames';
    const { causes: found } = tester.create({ metadata: { annotations: { [key]: 'x,*,localhost//a' } }, spec: base });
    assert.deepEqual(found, [
      `FieldValueInvalid | metadata.annotations[${key}] | Invalid value: "x": must be a valid seccomp profile`,
      `FieldValueInvalid | metadata.annotations[${key}] | Invalid value: "localhost//a": must be a relative path`,
    ]);
  });
});
