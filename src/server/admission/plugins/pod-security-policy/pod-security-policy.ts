import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../../base/machinery/authorizer.js';
import type { FieldError } from '../../../../base/machinery/field-error.js';
import { cloneJson } from '../../../../base/machinery/json/exact-numbers.js';
import { deepEqual } from '../../../../base/machinery/patch/json-value.js';
import type { UserInfo } from '../../../../base/machinery/request-context.js';
import { serviceUnavailableError } from '../../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { PodSecurityPolicy as Policy } from '../../../../objects/apis/policy/v1beta1/pod-security-policy.types.js';
import type { ReadLister, SharedListers } from '../../../../objects/registry/informers/shared-listers.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor, refused } from '../../refused.js';
import { applyPolicy } from './apply-policy.js';
import { checkPod } from './check-pod.js';

const resource = { group: 'policy', resource: 'podsecuritypolicies' };
/** API groups in which roles may grant the use of policies; the second is the group that policies had first. */
const groups = ['policy', 'extensions'];
/** How long the cache is trusted while the change log can't be read, in milliseconds. */
const maxLostMs = 30_000;

interface Verdict {
  /** The pod with the changes of the policy that admits it; undefined when no policy does. */
  readonly admitted: { readonly pod: Pod; readonly policy: string } | undefined;
  /** The violations of the policies that the user may use. */
  readonly errors: readonly FieldError[];
}

/**
 * Admits a pod only under a PodSecurityPolicy that its service account or the requesting user may `use` (specification
 * 5.4.4, 5.5), and sets the fields that the policy defines. Policies that need not change the pod come first; otherwise
 * they are tried by name. An update is admitted only by a policy that need not change the pod.
 */
export class PodSecurityPolicy implements AdmissionPlugin {
  readonly name = 'PodSecurityPolicy';
  private readonly policies: Pick<ReadLister<Policy>, 'all' | 'lostForMs'>;
  private readonly annotation: string;
  private readonly auditPrefix: string;

  constructor(
    listers: Pick<SharedListers, 'of'>,
    private readonly authorizer: Authorizer,
    private readonly names: VendorNames,
  ) {
    this.policies = listers.of(resource, (object: ApiObject) => object as ApiObject as Policy);
    this.annotation = `${names.labelPrefix}/psp`;
    this.auditPrefix = `podsecuritypolicy.policy.${names.suffix}`;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    const pod = this.podOf(attributes);
    if (pod === undefined || attributes.operation !== 'CREATE') return;
    const { admitted, errors } = await this.judge(attributes, pod, true);
    if (admitted === undefined) throw refused(attributes, `PodSecurityPolicy: unable to admit pod: ${list(errors)}`);
    const { metadata } = admitted.pod;
    metadata.annotations = { ...metadata.annotations, [this.annotation]: admitted.policy };
    attributes.object = admitted.pod as unknown as ApiObject;
    attributes.context.auditAnnotations.set(`${this.auditPrefix}/admit-policy`, admitted.policy);
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const pod = this.podOf(attributes);
    if (pod === undefined) return;
    const { admitted, errors } = await this.judge(attributes, pod, false);
    if (admitted === undefined) throw refused(attributes, `PodSecurityPolicy: unable to validate pod: ${list(errors)}`);
    attributes.context.auditAnnotations.set(`${this.auditPrefix}/validate-policy`, admitted.policy);
  }

  /** The pod to check; undefined when the request changes nothing that policies cover. */
  private podOf(attributes: AdmissionAttributes): Pod | undefined {
    const { subresource, operation, object, oldObject } = attributes;
    if (!isFor(attributes, '', 'pods') || (subresource !== '' && subresource !== 'ephemeralcontainers'))
      return undefined;
    const pod = object as unknown as Pod;
    if (operation !== 'UPDATE') return pod;
    if (object?.metadata.deletionTimestamp !== undefined) return undefined;
    const old = oldObject as unknown as Pod;
    const isSame = deepEqual(pod.spec, old.spec) && deepEqual(this.profiles(pod), this.profiles(old));
    return isSame ? undefined : pod;
  }

  private profiles({ metadata }: Pod): Readonly<Record<string, string>> {
    const { labelPrefix } = this.names;
    const prefixes = [`seccomp.security.alpha.${labelPrefix}/`, `apparmor.security.beta.${labelPrefix}/`];
    const entries = Object.entries(metadata.annotations ?? {});
    return Object.fromEntries(entries.filter(([key]) => prefixes.some((mark) => key.includes(mark))));
  }

  private async judge(attributes: AdmissionAttributes, pod: Pod, mayChange: boolean): Promise<Verdict> {
    if (this.policies.lostForMs > maxLostMs) throw serviceUnavailableError('pod security policies cannot be followed');
    const policies = [...this.policies.all()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    if (policies.length === 0) {
      throw refused(attributes, 'PodSecurityPolicy: no providers available to validate pod request');
    }
    const failed: { readonly policy: string; readonly errors: readonly FieldError[] }[] = [];
    const changing: { readonly pod: Pod; readonly policy: string }[] = [];
    for (const policy of policies) {
      const copy = cloneJson(pod) as Pod;
      applyPolicy(copy, policy, this.names);
      const errors = checkPod(copy, policy, this.names);
      const isChanged = !deepEqual(copy, pod);
      if (errors.length > 0) failed.push({ policy: nameOf(policy), errors });
      else if (isChanged) changing.push({ pod: copy, policy: nameOf(policy) });
      else if (await this.mayUse(attributes, pod, nameOf(policy))) {
        return { admitted: { pod: copy, policy: nameOf(policy) }, errors: [] };
      }
    }
    for (const candidate of mayChange ? changing : []) {
      if (await this.mayUse(attributes, pod, candidate.policy)) return { admitted: candidate, errors: [] };
    }
    const errors: FieldError[] = [];
    for (const { policy, errors: own } of failed) {
      // Errors must not reveal other policies to the user.
      if (await this.mayUse(attributes, pod, policy)) errors.push(...own);
    }
    return { admitted: undefined, errors };
  }

  private async mayUse({ userInfo, namespace }: AdmissionAttributes, { spec }: Pod, name: string): Promise<boolean> {
    const account = spec.serviceAccountName;
    const users = account ? [accountUser(namespace, account), userInfo] : [userInfo];
    for (const user of users) {
      for (const apiGroup of groups) {
        const { decision } = await this.authorizer.authorize({
          user,
          verb: 'use',
          isResourceRequest: true,
          namespace,
          apiGroup,
          apiVersion: '*',
          resource: resource.resource,
          subresource: '',
          name,
          path: '',
        });
        if (decision === 'allow') return true;
      }
    }
    return false;
  }
}

function accountUser(namespace: string, account: string): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${account}`,
    uid: '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra: {},
  };
}

function nameOf({ metadata }: Policy): string {
  return metadata.name ?? '';
}

/** Joins the errors in the format that other servers use in this message. */
function list(errors: readonly FieldError[]): string {
  return `[${errors.map(({ field, message }) => `${field}: ${message}`).join(' ')}]`;
}
