import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import { profileAnnotations } from '../../../../objects/apis/core/v1/profile-annotations.js';
import { NamespacePolicies } from './namespace-policies.js';
import { enforcesMore, policyText } from './namespace-policy.js';
import { defaultSettings, readPodSecurityConfiguration } from './pod-security-configuration.js';
import { parseLevel, parseVersion } from './policy-version.js';
import { isSignificantUpdate } from './significant-update.js';

const names = vendorNames('k8s.io');
const prefix = 'pod-security.kubernetes.io/';
const policies = new NamespacePolicies(names, defaultSettings.defaults);

function labels(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [prefix + key, value]));
}

describe('versions of the standards', () => {
  for (const [text, minor] of [
    ['latest', Number.POSITIVE_INFINITY],
    ['v1.0', 0],
    ['v1.25', 25],
    ['1.25', undefined],
    ['v1.025', undefined],
    ['v2.0', undefined],
    ['v1.25.1', undefined],
    ['', undefined],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => assert.equal(parseVersion(text)?.minor, minor));
  }
  it('knows three levels', () => {
    assert.deepEqual(['privileged', 'baseline', 'restricted', 'Restricted', ''].map(parseLevel), [
      'privileged',
      'baseline',
      'restricted',
      undefined,
      undefined,
    ]);
  });
});

describe('policies of namespaces', () => {
  const cases: readonly (readonly [Record<string, string>, string, number])[] = [
    [{}, '', 0],
    [{ enforce: 'baseline' }, 'enforce=baseline:latest, warn=baseline:latest', 0],
    [{ enforce: 'baseline', warn: 'privileged' }, 'enforce=baseline:latest', 0],
    [
      { enforce: 'baseline', 'enforce-version': 'v1.20', warn: 'restricted' },
      'enforce=baseline:v1.20, warn=restricted:latest',
      0,
    ],
    [
      { enforce: 'baseline', 'enforce-version': 'v1.20', 'warn-version': 'v1.21' },
      'enforce=baseline:v1.20, warn=baseline:v1.21',
      0,
    ],
    [{ audit: 'restricted', 'audit-version': 'v1.1' }, 'audit=restricted:v1.1', 0],
    [{ enforce: 'x' }, 'enforce=restricted:latest', 1],
    [
      { enforce: 'baseline', 'enforce-version': 'x', warn: 'y', audit: 'z' },
      'enforce=baseline:latest, audit=restricted:latest',
      3,
    ],
  ];
  for (const [values, text, problems] of cases) {
    it(`reads ${JSON.stringify(values)}`, () => {
      const { policy, errors } = policies.read(labels(values));
      assert.equal(policyText(policy), text);
      assert.equal(errors.length, problems);
    });
  }

  it('says what is wrong with a label', () => {
    const { errors } = policies.read(labels({ enforce: 'x', 'warn-version': '1' }));
    assert.deepEqual(errors, [
      {
        type: 'FieldValueInvalid',
        field: 'metadata.labels[pod-security.kubernetes.io/enforce]',
        message: 'Invalid value: "x": must be one of privileged, baseline, restricted',
      },
      {
        type: 'FieldValueInvalid',
        field: 'metadata.labels[pod-security.kubernetes.io/warn-version]',
        message: 'Invalid value: "1": must be "latest" or "v1.x"',
      },
    ]);
  });

  const changes: readonly (readonly [Record<string, string>, Record<string, string>, boolean])[] = [
    [{ enforce: 'baseline' }, { enforce: 'restricted' }, true],
    [{ enforce: 'restricted' }, { enforce: 'baseline' }, false],
    [{ enforce: 'baseline' }, { enforce: 'baseline' }, false],
    [{ enforce: 'baseline' }, { enforce: 'baseline', 'enforce-version': 'v1.20' }, true],
    [{ enforce: 'baseline' }, { 'enforce-version': 'v1.20' }, false],
    [{}, { warn: 'restricted' }, false],
  ];
  for (const [before, after, expected] of changes) {
    it(`compares ${JSON.stringify(before)} with ${JSON.stringify(after)}`, () => {
      const old = policies.read(labels(before)).policy;
      assert.equal(enforcesMore(policies.read(labels(after)).policy, old), expected);
    });
  }
});

describe('PodSecurityConfiguration', () => {
  const head = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' };

  it('is read in all its versions', () => {
    for (const version of ['v1', 'v1beta1', 'v1alpha1']) {
      const { settings, problems } = readPodSecurityConfiguration(
        {
          apiVersion: `pod-security.admission.config.k8s.io/${version}`,
          kind: 'PodSecurityConfiguration',
          defaults: { enforce: 'baseline', 'enforce-version': 'v1.30', audit: '', warn: 'restricted' },
          exemptions: { usernames: ['u'], namespaces: ['n'], runtimeClasses: ['r'] },
        },
        names,
      );
      assert.deepEqual(problems, []);
      assert.equal(policyText(settings.defaults), 'enforce=baseline:v1.30, warn=restricted:latest');
      assert.deepEqual(
        [...settings.exemptUsers, ...settings.exemptNamespaces, ...settings.exemptRuntimeClasses],
        ['u', 'n', 'r'],
      );
    }
  });

  const bad: readonly (readonly [unknown, readonly string[]])[] = [
    [{ ...head, kind: 'X' }, ['kind: must be PodSecurityConfiguration']],
    [
      { ...head, apiVersion: 'v1' },
      [
        'apiVersion: must be one of pod-security.admission.config.k8s.io/v1, pod-security.admission.config.k8s.io/v1beta1, pod-security.admission.config.k8s.io/v1alpha1',
      ],
    ],
    [{ ...head, defaults: { enforced: 'x' }, more: 1 }, ['defaults.enforced: unknown field', 'more: unknown field']],
    [
      { ...head, defaults: { enforce: 'x', 'warn-version': 'y' } },
      [
        'defaults.enforce: Invalid value: "x": must be one of privileged, baseline, restricted',
        'defaults.warn-version: Invalid value: "y": must be "latest" or "v1.x"',
      ],
    ],
    [
      { ...head, exemptions: { usernames: ['', 'a', 'a'] } },
      ['exemptions.usernames[0]: Required value', 'exemptions.usernames[2]: Duplicate value: "a"'],
    ],
  ];
  for (const [input, expected] of bad) {
    it(`refuses ${JSON.stringify(input)}`, () => {
      assert.deepEqual(readPodSecurityConfiguration(input, names).problems, expected);
    });
  }

  for (const input of [{ ...head, defaults: 'x' }, { ...head, exemptions: { namespaces: ['A_b'] } }, 7, 'x']) {
    it(`refuses ${JSON.stringify(input)}`, () => {
      assert.equal(readPodSecurityConfiguration(input, names).problems.length, 1);
    });
  }
});

describe('updates of pods that need a new judgement', () => {
  const keys = profileAnnotations(names);
  const pod = (spec: object, annotations?: Record<string, string>) =>
    ({
      metadata: annotations === undefined ? {} : { annotations },
      spec: { containers: [{ name: 'a', image: 'x' }], ...spec },
    }) as unknown as Pod;
  const cases: readonly (readonly [what: string, Pod, Pod, boolean])[] = [
    ['labels', pod({}), { ...pod({}), metadata: { labels: { a: 'b' } } }, false],
    ['an image', pod({}), pod({ containers: [{ name: 'a', image: 'y' }] }), true],
    [
      'resources',
      pod({}),
      pod({ containers: [{ name: 'a', image: 'x', resources: { limits: { cpu: '1' } } }] }),
      false,
    ],
    ['tolerations', pod({}), pod({ tolerations: [{ key: 'a' }] }), false],
    ['a new ephemeral container', pod({}), pod({ ephemeralContainers: [{ name: 'e' }] }), true],
    [
      'no new ephemeral container',
      pod({ ephemeralContainers: [{ name: 'e' }] }),
      pod({ ephemeralContainers: [{ name: 'e' }] }),
      false,
    ],
    [
      'an image of an init container',
      pod({ initContainers: [{ name: 'i' }] }),
      pod({ initContainers: [{ name: 'i', image: 'y' }] }),
      true,
    ],
    ['another annotation', pod({}), pod({}, { a: 'b' }), false],
    ['an AppArmor annotation', pod({}), pod({}, { [`${keys.appArmorPrefix}a`]: 'unconfined' }), true],
    ['a seccomp annotation', pod({}), pod({}, { [keys.seccompPod]: 'unconfined' }), true],
  ];
  for (const [what, before, after, expected] of cases) {
    it(`${expected ? 'include' : 'exclude'} those of ${what}`, () => {
      assert.equal(isSignificantUpdate(after, before, keys), expected);
    });
  }
});
