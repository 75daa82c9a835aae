import { addWarning } from '../../../../base/machinery/request-context.js';
import { invalidError } from '../../../../base/machinery/status-error.js';
import type { Namespace } from '../../../../objects/apis/core/v1/namespace.types.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { PodTemplateSpec } from '../../../../objects/apis/core/v1/pod-spec.types.js';
import { type ProfileAnnotations, profileAnnotations } from '../../../../objects/apis/core/v1/profile-annotations.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { refused } from '../../refused.js';
import { NamespacePodReview } from './namespace-pod-review.js';
import { NamespacePolicies } from './namespace-policies.js';
import { enforcesMore, isFullyPrivileged, type PolicyMode, policyText, type ReadPolicy } from './namespace-policy.js';
import type { PodSecuritySettings } from './pod-security-configuration.js';
import { PodSecurityMetrics } from './pod-security-metrics.js';
import { hasPodTemplate, podTemplateOf } from './pod-template-of.js';
import { formatLevelVersion, type LevelVersion } from './policy-version.js';
import { isSignificantUpdate } from './significant-update.js';
import { PodEvaluator, violationsText } from './standards/pod-evaluator.js';
import { type CheckedPod, checkedPod } from './standards/standard.js';

/**
 * Holds pods to the Pod Security Standards that the labels of their namespace choose (specification 5.5): it refuses
 * pods that violate the enforced level, and records or warns about pods that violate the audit or the warning level.
 * Templates of pods are never refused. It checks the final object, after all changes by other plugins.
 */
export class PodSecurity implements AdmissionPlugin {
  readonly name = 'PodSecurity';
  private readonly policies: NamespacePolicies;
  private readonly evaluator: PodEvaluator;
  private readonly metrics: PodSecurityMetrics;
  private readonly review: NamespacePodReview;
  private readonly annotations: ProfileAnnotations;
  private readonly prefix: string;

  constructor(
    private readonly dependencies: Pick<AdmissionDependencies, 'names' | 'namespaces' | 'stores' | 'clock' | 'metrics'>,
    private readonly settings: PodSecuritySettings,
  ) {
    const { names, stores, clock, metrics } = dependencies;
    this.policies = new NamespacePolicies(names, settings.defaults);
    this.evaluator = new PodEvaluator(names);
    this.metrics = new PodSecurityMetrics(metrics.registry, this.evaluator.newestMinor);
    this.review = new NamespacePodReview(
      stores,
      this.evaluator,
      ({ spec }) => this.isExemptClass(spec.runtimeClassName),
      clock,
    );
    this.annotations = profileAnnotations(names);
    this.prefix = `pod-security.${names.labelPrefix}/`;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    const { resource, subresource } = attributes;
    if (resource.group === '' && resource.resource === 'pods') {
      // Other subresources change no field that is checked.
      return subresource === '' || subresource === 'ephemeralcontainers' ? this.judgePod(attributes) : undefined;
    }
    // Writes of `namespaces/status` and `/finalize` are not checked either, as in the reference: a namespace whose
    // labels are older than their rules must be able to terminate.
    if (subresource !== '') return undefined;
    if (resource.group === '' && resource.resource === 'namespaces') return this.judgeNamespace(attributes);
    return hasPodTemplate(resource) ? this.judgeTemplate(attributes) : undefined;
  }

  private judgePod(attributes: AdmissionAttributes): Promise<void> | void {
    if (this.isExemptRequest(attributes)) return undefined;
    return this.withPolicy(attributes, (read) => {
      const { policy } = read;
      const pod = attributes.storedObject as unknown as Pod;
      this.annotate(attributes, 'enforce-policy', formatLevelVersion(policy.enforce));
      if (read.errors.length === 0 && isFullyPrivileged(policy)) {
        this.metrics.countEvaluation(true, 'enforce', policy.enforce, attributes);
        return;
      }
      const old = attributes.storedOldObject as unknown as Pod | undefined;
      if (old !== undefined && !isSignificantUpdate(pod, old, this.annotations)) return;
      this.judge(attributes, read, pod, true);
    });
  }

  private judgeTemplate(attributes: AdmissionAttributes): Promise<void> | void {
    if (this.isExemptRequest(attributes)) return undefined;
    return this.withPolicy(attributes, (read) => {
      const { audit, warn } = read.policy;
      if (read.errors.length === 0 && audit.level === 'privileged' && warn.level === 'privileged') return;
      const { storedObject } = attributes;
      const template = storedObject === undefined ? undefined : podTemplateOf(attributes.resource, storedObject);
      if (template !== undefined) this.judge(attributes, read, template, false);
    });
  }

  private judge(
    attributes: AdmissionAttributes,
    { policy, errors }: ReadPolicy,
    { metadata, spec }: Pod | PodTemplateSpec,
    enforces: boolean,
  ): void {
    if (this.isExemptClass(spec.runtimeClassName)) {
      this.exempt(attributes, 'runtimeClass');
      return;
    }
    if (errors.length > 0) {
      const problems = errors.map(({ field, message }) => `${field}: ${message}`).join(', ');
      this.annotate(attributes, 'error', `Failed to parse policy: ${problems}`);
    }
    const pod = checkedPod(metadata.annotations, spec);
    const violated = enforces ? this.violations(attributes, 'enforce', policy.enforce, pod) : undefined;
    const noted = this.violations(attributes, 'audit', policy.audit, pod);
    if (noted !== undefined) this.annotate(attributes, 'audit-violations', `would violate ${noted}`);
    // A client that gets a refusal needs no warning.
    if (violated !== undefined) throw refused(attributes, `violates ${violated}`);
    const warned = this.violations(attributes, 'warn', policy.warn, pod);
    if (warned !== undefined) addWarning(attributes.context, `would violate ${warned}`);
  }

  /** Names the policy and the violations; undefined when there are none. */
  private violations(
    attributes: AdmissionAttributes,
    mode: PolicyMode,
    levelVersion: LevelVersion,
    pod: CheckedPod,
  ): string | undefined {
    const violations = this.evaluator.evaluate(levelVersion, pod);
    const isAllowed = violations.length === 0;
    // Every enforcing evaluation counts; other evaluations count only if they find violations.
    if (mode === 'enforce' || !isAllowed) this.metrics.countEvaluation(isAllowed, mode, levelVersion, attributes);
    if (isAllowed) return undefined;
    return `PodSecurity ${JSON.stringify(formatLevelVersion(levelVersion))}: ${violationsText(violations)}`;
  }

  private judgeNamespace(attributes: AdmissionAttributes): Promise<void> | void {
    const namespace = attributes.storedObject as unknown as Namespace;
    const { policy, errors } = this.policies.read(namespace.metadata.labels);
    const old = attributes.storedOldObject;
    const before = old === undefined ? undefined : this.policies.read(old.metadata.labels);
    if (errors.length > 0 && JSON.stringify(errors) !== JSON.stringify(before?.errors)) {
      throw invalidError({ group: '', kind: 'Namespace' }, attributes.name, errors);
    }
    if (this.settings.exemptNamespaces.has(attributes.name)) {
      this.warnOfExemption(attributes, before, { policy, errors });
      return undefined;
    }
    if (before === undefined || !enforcesMore(policy, before.policy)) return undefined;
    return this.warnOfPods(attributes, policy.enforce);
  }

  private warnOfExemption(attributes: AdmissionAttributes, before: ReadPolicy | undefined, now: ReadPolicy): void {
    const text = policyText(now.policy);
    if (text === policyText(before?.policy ?? this.settings.defaults)) return;
    const name = JSON.stringify(attributes.name);
    addWarning(
      attributes.context,
      `namespace ${name} is exempt from Pod Security, and the policy (${text}) will be ignored`,
    );
  }

  private async warnOfPods(attributes: AdmissionAttributes, enforced: LevelVersion): Promise<void> {
    for (const text of await this.review.warnings(attributes.name, enforced)) addWarning(attributes.context, text);
  }

  private withPolicy(attributes: AdmissionAttributes, use: (read: ReadPolicy) => void): Promise<void> | void {
    const found = this.dependencies.namespaces.get(attributes.namespace);
    if (found instanceof Promise) return found.then((namespace) => use(this.policies.read(namespace?.labels)));
    use(this.policies.read(found?.labels));
    return undefined;
  }

  private isExemptRequest(attributes: AdmissionAttributes): boolean {
    const { exemptNamespaces, exemptUsers } = this.settings;
    if (exemptNamespaces.has(attributes.namespace)) this.exempt(attributes, 'namespace');
    else if (exemptUsers.has(attributes.userInfo.name)) this.exempt(attributes, 'user');
    else return false;
    return true;
  }

  private isExemptClass(runtimeClass: string | undefined): boolean {
    return runtimeClass !== undefined && this.settings.exemptRuntimeClasses.has(runtimeClass);
  }

  private exempt(attributes: AdmissionAttributes, by: 'namespace' | 'user' | 'runtimeClass'): void {
    this.annotate(attributes, 'exempt', by);
    this.metrics.countExemption(attributes);
  }

  private annotate({ context }: AdmissionAttributes, key: string, value: string): void {
    context.auditAnnotations.set(this.prefix + key, value);
  }
}
