import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgePodSpec, type PodCase, subdomainRule } from '../../../../../../test/support/pod-rules.js';

const cases: readonly PodCase[] = [
  [
    'ids and profiles of a container',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          securityContext: {
            runAsUser: -1,
            runAsGroup: 3000000000,
            procMount: 'Odd',
            seccompProfile: { type: 'Localhost' },
            windowsOptions: { gmsaCredentialSpecName: 'A_', gmsaCredentialSpec: '', runAsUserName: '' },
          },
        },
      ],
    },
    [
      'FieldValueInvalid | spec.containers[0].securityContext.runAsUser | Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'FieldValueInvalid | spec.containers[0].securityContext.runAsGroup | Invalid value: 3000000000: must be between 0 and 2147483647, inclusive',
      'FieldValueNotSupported | spec.containers[0].securityContext.procMount | Unsupported value: "Odd": supported values: "Default", "Unmasked"',
      'FieldValueRequired | spec.containers[0].securityContext.seccompProfile.localhostProfile | Required value: must be set when seccomp type is Localhost',
      `FieldValueInvalid | spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpecName | Invalid value: "A_": ${subdomainRule}`,
      'FieldValueInvalid | spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpec | Invalid value: "": gmsaCredentialSpec cannot be an empty string',
      'FieldValueInvalid | spec.containers[0].securityContext.windowsOptions.runAsUserName | Invalid value: "": runAsUserName cannot be an empty string',
    ],
  ],
  [
    'a profile without type',
    {
      containers: [
        { name: 'c', image: 'img:1', securityContext: { seccompProfile: { type: '', localhostProfile: 'x' } } },
      ],
    },
    [
      'FieldValueRequired | spec.containers[0].securityContext.seccompProfile.type | Required value: type is required when seccompProfile is set',
      'FieldValueInvalid | spec.containers[0].securityContext.seccompProfile.localhostProfile | Invalid value: {"type":"","localhostProfile":"x"}: can only be set when seccomp type is Localhost',
    ],
  ],
  [
    'an unknown profile type',
    { containers: [{ name: 'c', image: 'img:1', securityContext: { seccompProfile: { type: 'Odd' } } }] },
    [
      'FieldValueNotSupported | spec.containers[0].securityContext.seccompProfile.type | Unsupported value: "Odd": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  ],
  [
    'paths of profiles',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          securityContext: {
            seccompProfile: { type: 'Localhost', localhostProfile: '/a/../b' },
            windowsOptions: { runAsUserName: 'a\\b\\c' },
          },
        },
      ],
    },
    [
      'FieldValueInvalid | spec.containers[0].securityContext.seccompProfile.localhostProfile | Invalid value: "/a/../b": must be a relative path',
      'FieldValueInvalid | spec.containers[0].securityContext.seccompProfile.localhostProfile | Invalid value: "/a/../b": must not contain \'..\'',
      'FieldValueInvalid | spec.containers[0].securityContext.windowsOptions.runAsUserName | Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
    ],
  ],
  [
    'a path nobody reads',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          securityContext: { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } },
        },
      ],
    },
    [
      'FieldValueInvalid | spec.containers[0].securityContext.seccompProfile.localhostProfile | Invalid value: {"type":"RuntimeDefault","localhostProfile":"x"}: can only be set when seccomp type is Localhost',
    ],
  ],
  [
    'settings of the pod',
    {
      securityContext: {
        fsGroup: -1,
        runAsGroup: -1,
        runAsUser: -1,
        supplementalGroups: [1, -1],
        sysctls: [
          { name: '', value: '' },
          { name: 'kernel.shm', value: '1' },
          { name: 'kernel.shm', value: '1' },
          { name: 'kernel/shm', value: '' },
          { name: 'a//b', value: '' },
        ],
        fsGroupChangePolicy: 'X',
        seccompProfile: { type: 'X' },
      },
      hostPID: true,
      shareProcessNamespace: true,
    },
    [
      'FieldValueInvalid | spec.securityContext.fsGroup | Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'FieldValueInvalid | spec.securityContext.runAsUser | Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'FieldValueInvalid | spec.securityContext.runAsGroup | Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'FieldValueInvalid | spec.securityContext.supplementalGroups[1] | Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'FieldValueInvalid | spec.shareProcessNamespace | Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
      'FieldValueRequired | spec.securityContext.sysctls[0].name | Required value',
      'FieldValueDuplicate | spec.securityContext.sysctls[2].name | Duplicate value: "kernel.shm"',
      'FieldValueInvalid | spec.securityContext.sysctls[4].name | Invalid value: "a//b": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
      'FieldValueNotSupported | spec.securityContext.fsGroupChangePolicy | Unsupported value: "X": supported values: "Always", "OnRootMismatch"',
      'FieldValueNotSupported | spec.securityContext.seccompProfile.type | Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  ],
  [
    'kernel settings that the pod shares with its node',
    {
      hostIPC: true,
      hostNetwork: true,
      securityContext: {
        sysctls: [
          'kernel.shmall',
          'kernel/msgmax',
          'kernel.sem',
          'kernel.semx',
          'fs.mqueue.x',
          'net.ipv4.x',
          'net',
        ].map((name) => ({ name, value: '1' })),
      },
    },
    [
      `FieldValueInvalid | spec.securityContext.sysctls[0].name | Invalid value: "kernel.shmall": may not be specified when 'hostIPC' is true`,
      `FieldValueInvalid | spec.securityContext.sysctls[1].name | Invalid value: "kernel/msgmax": may not be specified when 'hostIPC' is true`,
      `FieldValueInvalid | spec.securityContext.sysctls[2].name | Invalid value: "kernel.sem": may not be specified when 'hostIPC' is true`,
      `FieldValueInvalid | spec.securityContext.sysctls[4].name | Invalid value: "fs.mqueue.x": may not be specified when 'hostIPC' is true`,
      `FieldValueInvalid | spec.securityContext.sysctls[5].name | Invalid value: "net.ipv4.x": may not be specified when 'hostNetwork' is true`,
    ],
  ],
];

describe('rules of security settings', () => {
  for (const [about, part, causes] of cases) {
    it(`judges ${about}`, () => {
      assert.deepEqual(judgePodSpec(part), causes);
    });
  }
});
