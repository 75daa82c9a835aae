import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  judgePodSpec,
  type PodCase,
  qualifiedRule,
  subdomainRule,
  underscoreRule,
  valueRule,
} from '../../../../../../test/support/pod-rules.js';

const cases: readonly PodCase[] = [
  [
    'name resolution',
    {
      dnsPolicy: 'None',
      dnsConfig: {
        nameservers: ['a', '1.2.3.4', '2.2.2.2', '3.3.3.3'],
        searches: ['a_b', 'UPPER', 'x.', '.'],
        options: [{ name: '' }, { name: 'x' }],
      },
    },
    [
      'FieldValueInvalid | spec.dnsConfig.nameservers | Invalid value: ["a","1.2.3.4","2.2.2.2","3.3.3.3"]: must not have more than 3 nameservers',
      'FieldValueInvalid | spec.dnsConfig.nameservers[0] | Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      `FieldValueInvalid | spec.dnsConfig.searches[1] | Invalid value: "UPPER": ${underscoreRule}`,
      'FieldValueRequired | spec.dnsConfig.options[0] | Required value: must not be empty',
    ],
  ],
  [
    'name resolution without servers',
    { dnsPolicy: 'None', dnsConfig: {} },
    [
      'FieldValueRequired | spec.dnsConfig.nameservers | Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
    ],
  ],
  [
    'names and the deadline',
    { serviceAccountName: 'default', nodeName: 'A_', hostname: 'a.b', subdomain: 'a.b', activeDeadlineSeconds: -1 },
    [
      `FieldValueInvalid | spec.nodeName | Invalid value: "A_": ${subdomainRule}`,
      'FieldValueInvalid | spec.activeDeadlineSeconds | Invalid value: -1: must be between 1 and 2147483647, inclusive',
      `FieldValueInvalid | spec.hostname | Invalid value: "a.b": must not contain dots`,
      `FieldValueInvalid | spec.subdomain | Invalid value: "a.b": must not contain dots`,
    ],
  ],
  [
    'names of claims',
    { resourceClaims: [{ name: 'a', resourceClaimName: 'A_' }, { name: 'b' }] },
    [
      `FieldValueInvalid | spec.resourceClaims[0].resourceClaimName | Invalid value: "A_": ${subdomainRule}`,
      'FieldValueInvalid | spec.resourceClaims[1] | Invalid value: {"name":"b"}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
    ],
  ],
  [
    'processes of Windows nodes',
    {
      securityContext: { windowsOptions: { hostProcess: true, runAsUserName: 'a?b\\c:' } },
      containers: [
        { name: 'c', image: 'i', securityContext: { windowsOptions: { hostProcess: false } } },
        { name: 'd', image: 'i', securityContext: { windowsOptions: { runAsUserName: 'dom\\.. ' } } },
      ],
    },
    [
      'FieldValueInvalid | spec.containers[1].securityContext.windowsOptions.runAsUserName | Invalid value: "dom\\\\.. ": runAsUserName\'s User cannot contain only periods or spaces',
      'FieldValueInvalid | spec.securityContext.windowsOptions.runAsUserName | Invalid value: "a?b\\\\c:": runAsUserName\'s Domain doesn\'t match the NetBios nor the DNS format',
      'FieldValueInvalid | spec.securityContext.windowsOptions.runAsUserName | Invalid value: "a?b\\\\c:": runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]',
      'FieldValueInvalid | spec.containers[0].securityContext.windowsOptions.hostProcess | Invalid value: false: pod hostProcess value must be identical if both are specified, was true',
      'FieldValueInvalid | spec | Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
      'FieldValueInvalid | spec.hostNetwork | Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
    ],
  ],
  [
    'the rest',
    {
      preemptionPolicy: 'Odd',
      hostAliases: [{ ip: 'x', hostnames: ['A_'] }, { ip: '1.2.3.4' }],
      nodeSelector: { 'a b': 'c d' },
      readinessGates: [{ conditionType: '' }],
      imagePullSecrets: [{ name: '' }],
    },
    [
      `FieldValueInvalid | spec.nodeSelector | Invalid value: "a b": ${qualifiedRule}`,
      `FieldValueInvalid | spec.nodeSelector | Invalid value: "c d": ${valueRule}`,
      'FieldValueInvalid | spec.readinessGates[0].conditionType | Invalid value: "": name part must be non-empty',
      `FieldValueInvalid | spec.readinessGates[0].conditionType | Invalid value: "": ${qualifiedRule}`,
      'FieldValueInvalid | spec.hostAliases[0].ip | Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      `FieldValueInvalid | spec.hostAliases[0].hostnames[0] | Invalid value: "A_": ${subdomainRule}`,
      'FieldValueNotSupported | spec.preemptionPolicy | Unsupported value: "Odd": supported values: "PreemptLowerPriority", "Never"',
    ],
  ],
];

describe('rules of pod specs', () => {
  for (const [about, part, causes] of cases) {
    it(`judges ${about}`, () => {
      assert.deepEqual(judgePodSpec(part), causes);
    });
  }
});
