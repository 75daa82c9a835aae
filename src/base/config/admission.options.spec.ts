import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AdmissionOptions,
  type AdmissionPluginName,
  admissionPluginNames,
  selectedAdmissionPlugins,
} from './admission.options.js';
import { AuthorizationOptions } from './authorization.options.js';
import { FeatureGates } from './feature-gates.js';
import { parseOptions } from './parse-options.js';

const groups = { admission: AdmissionOptions, authorization: AuthorizationOptions };
const parse = (...argv: string[]) => parseOptions({ groups, argv, environment: {} });

const names = (text: string) => text.trim().split(/\s+/);
/** All plugins in their order; a star marks those that run by default. */
const specified = names(`
  AlwaysAdmit NamespaceAutoProvision NamespaceLifecycle* NamespaceExists SecurityContextDeny
  LimitPodHardAntiAffinityTopology LimitRanger* ServiceAccount* NodeRestriction TaintNodesByCondition*
  AlwaysPullImages ImagePolicyWebhook PodSecurity* PodSecurityPolicy PodNodeSelector Priority*
  DefaultTolerationSeconds* PodTolerationRestriction EventRateLimit ExtendedResourceToleration
  PersistentVolumeLabel DefaultStorageClass* StorageObjectInUseProtection*
  OwnerReferencesPermissionEnforcement PersistentVolumeClaimResize* RuntimeClass* CertificateApproval*
  CertificateSigning* ClusterTrustBundleAttest* CertificateSubjectRestriction* DefaultIngressClass* DenyServiceExternalIPs
  PodTopologyLabels* NodeDeclaredFeatureValidator* PodResizeValidator* DenyEscalatingExec DenyExecOnPrivileged MutatingAdmissionPolicy* MutatingAdmissionWebhook*
  ValidatingAdmissionPolicy* ValidatingAdmissionWebhook* ResourceQuota* AlwaysDeny
`);

describe('admission options', () => {
  it('know every plugin of specification 5.5 and those of policies, in their order', () => {
    const all = specified.map((name) => name.replace('*', ''));
    assert.deepEqual(admissionPluginNames, all);
    const defaults = specified.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
    assert.deepEqual(selectedAdmissionPlugins(parse().admission), defaults);
    assert.equal(
      defaults.length,
      24,
      'the 18 of the specification, two of policies, two of resized pods, one of trust bundles and one of topology',
    );
  });

  it('add to and remove from the default plugins, in a fixed order', () => {
    const selected = (...argv: string[]) => selectedAdmissionPlugins(parse(...argv).admission);
    const defaults = selected();
    assert.equal(defaults[0], 'NamespaceLifecycle');
    assert.ok(!defaults.includes('NodeRestriction'));
    const place = admissionPluginNames.indexOf('NodeRestriction');
    const isBefore = (name: AdmissionPluginName) => admissionPluginNames.indexOf(name) < place;
    assert.deepEqual(selected('--enable-admission-plugins=CertificateSigning,NodeRestriction'), [
      ...defaults.filter(isBefore),
      'NodeRestriction',
      ...defaults.filter((name) => !isBefore(name)),
    ]);
    const others = defaults.slice(1);
    assert.deepEqual(selected('--disable-admission-plugins=NamespaceLifecycle,NodeRestriction'), others);
  });

  it('leave out plugins whose feature gate is off', () => {
    const all = selectedAdmissionPlugins(parse().admission);
    const left = selectedAdmissionPlugins(parse().admission, FeatureGates.of(['PodTopologyLabelsAdmission=false']));
    assert.ok(all.includes('PodTopologyLabels'));
    assert.deepEqual(
      left,
      all.filter((name) => name !== 'PodTopologyLabels'),
    );
  });

  it('refuse unknown plugins and contradictions', () => {
    assert.throws(
      () => parse('--enable-admission-plugins=Nothing'),
      /names the unknown plugin Nothing; choose from \w+, /,
    );
    assert.throws(
      () => parse('--disable-admission-plugins=nodeRestriction'),
      /names the unknown plugin nodeRestriction/,
    );
    const both = ['--enable-admission-plugins=NodeRestriction', '--disable-admission-plugins=NodeRestriction'];
    assert.throws(() => parse(...both), /has NodeRestriction, which the other of the two flags names as well/);
    assert.throws(() => parse('--enable-admission-plugins=NodeRestriction,NodeRestriction'), /names a plugin twice/);
  });
});

describe('authorization options', () => {
  it('belong to their mode', () => {
    const mode = (modes: string, ...more: string[]) => parse(`--authorization-mode=${modes}`, ...more).authorization;
    assert.deepEqual(mode('Node,RBAC').authorizationMode, ['Node', 'RBAC']);
    assert.throws(() => mode('ABAC'), /the mode ABAC, which needs --authorization-policy-file/);
    assert.throws(() => mode('RBAC,Webhook'), /needs --authorization-webhook-config-file/);
    assert.throws(() => mode('RBAC', '--authorization-policy-file=f'), /is only read by the mode ABAC/);
    assert.throws(() => mode('RBAC', '--authorization-webhook-config-file=f'), /is only read by the mode Webhook/);
    const webhook = mode('Webhook', '--authorization-webhook-config-file=f');
    assert.equal(webhook.authorizationWebhookVersion, 'v1beta1');
    assert.equal(webhook.authorizationWebhookCacheAuthorizedTtl, 300_000);
    assert.equal(webhook.authorizationWebhookCacheUnauthorizedTtl, 30_000);
    assert.throws(() => parse('--authorization-webhook-version=v2'), /must be one of v1beta1, v1/);
    assert.throws(() => parse('--authorization-webhook-cache-authorized-ttl=-1s'), /must not be negative/);
  });
});
