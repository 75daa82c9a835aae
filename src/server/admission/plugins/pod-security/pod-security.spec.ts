import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { admissionAttributes, type TestRequest } from '../../../../../test/support/admission-attributes.js';
import { systemClock } from '../../../../base/machinery/clock.js';
import { StatusError } from '../../../../base/machinery/status-error.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import type { KnownNamespace } from '../../../../objects/registry/informers/namespace-lister.js';
import type { ResourceStores } from '../../../../objects/registry/store/resource-stores.js';
import { AdmissionMetrics } from '../../admission-metrics.js';
import { PodSecurity } from './pod-security.js';
import { defaultSettings, type PodSecuritySettings } from './pod-security-configuration.js';

const prefix = 'pod-security.kubernetes.io/';
const host = { metadata: {}, spec: { hostNetwork: true, containers: [{ name: 'a', image: 'x' }] } };
const plain = { metadata: {}, spec: { containers: [{ name: 'a', image: 'x' }] } };
const hostText = 'PodSecurity "baseline:latest": host namespaces (hostNetwork=true)';

interface Judged {
  readonly error: StatusError | undefined;
  readonly warnings: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly metrics: string;
}

/** Checks a request in a namespace with the given labels. */
async function judge(
  labels: Readonly<Record<string, string>>,
  request: TestRequest,
  settings: Partial<PodSecuritySettings> = {},
): Promise<Judged> {
  const registry = new Registry();
  const prefixed = Object.fromEntries(Object.entries(labels).map(([key, value]) => [prefix + key, value]));
  const plugin = new PodSecurity(
    {
      names: vendorNames('k8s.io'),
      namespaces: { state: () => 'active', get: async () => ({ labels: prefixed }) as unknown as KnownNamespace },
      stores: {} as ResourceStores,
      clock: systemClock,
      metrics: new AdmissionMetrics(registry),
    },
    { ...defaultSettings, ...settings },
  );
  const attributes = admissionAttributes(request);
  let error: StatusError | undefined;
  try {
    await plugin.validate(attributes);
  } catch (thrown) {
    if (!(thrown instanceof StatusError)) throw thrown;
    error = thrown;
  }
  const { warnings, auditAnnotations } = attributes.context;
  const annotations = [...auditAnnotations].map(([key, value]) => [key.slice(prefix.length), value]);
  return { error, warnings, annotations: Object.fromEntries(annotations), metrics: await registry.metrics() };
}

describe('PodSecurity', () => {
  it('refuses what breaks the enforced level, without a warning', async () => {
    const judged = await judge({ enforce: 'baseline', audit: 'baseline', warn: 'baseline' }, { object: host });
    assert.equal(judged.error?.code, 403);
    assert.equal(judged.error?.message, `pods "x" is forbidden: violates ${hostText}`);
    assert.deepEqual(judged.warnings, []);
    assert.deepEqual(judged.annotations, {
      'enforce-policy': 'baseline:latest',
      'audit-violations': `would violate ${hostText}`,
    });
    assert.match(
      judged.metrics,
      /pod_security_evaluations_total\{decision="deny",policy_level="baseline",policy_version="latest",mode="enforce",request_operation="create",resource="pod",subresource=""\} 1/,
    );
    assert.match(judged.metrics, /decision="deny",.*mode="audit".* 1/);
  });

  it('warns and notes', async () => {
    const judged = await judge({ audit: 'restricted', 'audit-version': 'v1.0', warn: 'baseline' }, { object: host });
    assert.equal(judged.error, undefined);
    assert.deepEqual(judged.warnings, [`would violate ${hostText}`]);
    assert.equal(judged.annotations['enforce-policy'], 'privileged:latest');
    assert.match(
      judged.annotations['audit-violations'] ?? '',
      /^would violate PodSecurity "restricted:v1.0": host namespaces /,
    );
    assert.match(judged.metrics, /decision="allow",policy_level="privileged",.*mode="enforce".* 1/);
  });

  it('restricts nothing without labels', async () => {
    const judged = await judge({}, { object: host });
    assert.equal(judged.error, undefined);
    assert.deepEqual([judged.warnings, judged.annotations], [[], { 'enforce-policy': 'privileged:latest' }]);
  });

  it('is strictest when it cannot read a level', async () => {
    const judged = await judge({ enforce: 'unknown' }, { object: plain });
    assert.match(judged.error?.message ?? '', /violates PodSecurity "restricted:latest"/);
    assert.match(
      judged.annotations.error ?? '',
      /^Failed to parse policy: metadata\.labels\[.*enforce\]: Invalid value/,
    );
  });

  const changed = { ...host, spec: { ...host.spec, containers: [{ name: 'a', image: 'y' }] } };
  const updates: readonly (readonly [what: string, TestRequest, boolean])[] = [
    ['labels', { object: { ...host, metadata: { labels: { a: 'b' } } }, oldObject: host }, true],
    ['an image', { object: changed, oldObject: host }, false],
    [
      'an ephemeral container',
      {
        subresource: 'ephemeralcontainers',
        object: { ...host, spec: { ...host.spec, ephemeralContainers: [{ name: 'e' }] } },
        oldObject: host,
      },
      false,
    ],
    ['the status', { subresource: 'status', object: changed, oldObject: host }, true],
    ['its node', { subresource: 'binding', object: { metadata: {}, target: {} } }, true],
  ];
  for (const [what, request, isAllowed] of updates) {
    it(`${isAllowed ? 'lets a running pod change' : 'judges a change of'} ${what}`, async () => {
      assert.equal((await judge({ enforce: 'baseline' }, request)).error === undefined, isAllowed);
    });
  }

  const templates: readonly (readonly [string, object])[] = [
    ['podtemplates', { template: host }],
    ['replicationcontrollers', { spec: { template: host } }],
    ['deployments.apps', { spec: { template: host } }],
    ['replicasets.apps', { spec: { template: host } }],
    ['statefulsets.apps', { spec: { template: host } }],
    ['daemonsets.apps', { spec: { template: host } }],
    ['jobs.batch', { spec: { template: host } }],
    ['cronjobs.batch', { spec: { jobTemplate: { spec: { template: host } } } }],
  ];
  for (const [resource, object] of templates) {
    it(`only warns about templates in ${resource}`, async () => {
      const judged = await judge({ enforce: 'baseline', audit: 'baseline' }, { resource, object });
      assert.equal(judged.error, undefined);
      assert.deepEqual(judged.warnings, [`would violate ${hostText}`]);
      assert.deepEqual(judged.annotations, { 'audit-violations': `would violate ${hostText}` });
      assert.match(judged.metrics, /mode="warn",request_operation="create",resource="controller"/);
    });
  }

  it('ignores kinds without pods, and scales', async () => {
    const labels = { enforce: 'restricted', warn: 'restricted' };
    for (const request of [
      { resource: 'configmaps', object: { metadata: {} } },
      { resource: 'deployments.apps', subresource: 'scale', object: { spec: { replicas: 1 } }, oldObject: {} },
      { resource: 'replicationcontrollers', object: { spec: {} } },
    ]) {
      const { error, warnings } = await judge(labels, request);
      assert.deepEqual([error, warnings], [undefined, []]);
    }
  });

  const exemptions: readonly (readonly [string, Partial<PodSecuritySettings>, object])[] = [
    ['namespace', { exemptNamespaces: new Set(['n']) }, host],
    ['user', { exemptUsers: new Set(['alice']) }, host],
    [
      'runtimeClass',
      { exemptRuntimeClasses: new Set(['r']) },
      { ...host, spec: { ...host.spec, runtimeClassName: 'r' } },
    ],
  ];
  for (const [by, settings, object] of exemptions) {
    it(`leaves an exempt ${by} alone`, async () => {
      const judged = await judge({ enforce: 'baseline' }, { object }, settings);
      assert.equal(judged.error, undefined);
      assert.equal(judged.annotations.exempt, by);
      assert.match(
        judged.metrics,
        /pod_security_exemptions_total\{request_operation="create",resource="pod",subresource=""\} 1/,
      );
    });
  }

  it('takes defaults from the configuration', async () => {
    const version = { minor: 5, text: 'v1.5' };
    const defaults = { ...defaultSettings.defaults, enforce: { level: 'baseline', version } } as const;
    const { error } = await judge({}, { object: host }, { defaults });
    assert.match(error?.message ?? '', /violates PodSecurity "baseline:v1.5"/);
  });

  const namespaceRequest = (labels: Record<string, string>, old?: Record<string, string>): TestRequest => {
    const of = (values: Record<string, string>) => ({
      metadata: {
        name: 'n',
        labels: Object.fromEntries(Object.entries(values).map(([key, value]) => [prefix + key, value])),
      },
    });
    return { resource: 'namespaces', namespace: 'n', name: 'n', object: of(labels), oldObject: old && of(old) };
  };

  it('refuses labels that say nothing, unless they are there already', async () => {
    const { error } = await judge({}, namespaceRequest({ enforce: 'x' }));
    assert.equal(error?.code, 422);
    assert.equal(
      error?.message,
      'Namespace "n" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
    );
    assert.equal((await judge({}, namespaceRequest({ enforce: 'x' }, { enforce: 'y' }))).error?.code, 422);
    assert.equal((await judge({}, namespaceRequest({ enforce: 'x' }, { enforce: 'x' }))).error, undefined);
  });

  it('says that the labels of an exempt namespace have no effect', async () => {
    const settings = { exemptNamespaces: new Set(['n']) };
    const { warnings } = await judge({}, namespaceRequest({ enforce: 'baseline' }, {}), settings);
    const policy = 'enforce=baseline:latest, warn=baseline:latest';
    assert.deepEqual(warnings, [
      `namespace "n" is exempt from Pod Security, and the policy (${policy}) will be ignored`,
    ]);
    const same = await judge({}, namespaceRequest({ enforce: 'baseline' }, { enforce: 'baseline' }), settings);
    assert.deepEqual(same.warnings, []);
  });
});
