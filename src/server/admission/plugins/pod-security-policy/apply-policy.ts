import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { PodSecurityPolicy } from '../../../../objects/apis/policy/v1beta1/pod-security-policy.types.js';
import { type AnyContainer, containersOf } from '../../pods/containers-of.js';
import { containerAppArmor, podSeccomp, profileField, profileRules } from './policy-profiles.js';

type ContainerContext = NonNullable<AnyContainer['securityContext']>;

/** Sets the fields that the pod leaves unset and the policy defines. Changes the pod; a second call changes nothing. */
export function applyPolicy(pod: Pod, policy: PodSecurityPolicy, names: VendorNames): void {
  const { spec } = policy;
  const context = { ...pod.spec.securityContext };
  if (context.supplementalGroups === undefined) {
    const group = forcedId(spec.supplementalGroups);
    if (group !== undefined) context.supplementalGroups = [group];
  }
  if (context.fsGroup === undefined) {
    const group = forcedId(spec.fsGroup);
    if (group !== undefined) context.fsGroup = group;
  }
  if (context.seLinuxOptions === undefined && spec.seLinux.rule === 'MustRunAs' && spec.seLinux.seLinuxOptions) {
    context.seLinuxOptions = { ...spec.seLinux.seLinuxOptions };
  }
  const seccomp = profileRules(policy.metadata.annotations, 'seccomp.security.alpha', names).preset;
  if (seccomp !== '' && podSeccomp(pod, names) === '') context.seccompProfile = profileField(seccomp);
  if (Object.keys(context).length > 0) pod.spec.securityContext = context;
  const runtimeClass = spec.runtimeClass?.defaultRuntimeClassName;
  if (runtimeClass !== undefined && pod.spec.runtimeClassName === undefined) pod.spec.runtimeClassName = runtimeClass;
  for (const container of containersOf(pod.spec)) applyToContainer(container, pod, policy, names);
}

function applyToContainer(container: AnyContainer, pod: Pod, policy: PodSecurityPolicy, names: VendorNames): void {
  const { spec } = policy;
  const ofPod = pod.spec.securityContext ?? {};
  const context: ContainerContext = { ...container.securityContext };
  if ((context.runAsUser ?? ofPod.runAsUser) === undefined) {
    const user = forcedId(spec.runAsUser);
    if (user !== undefined) context.runAsUser = user;
    else if (spec.runAsUser.rule === 'MustRunAsNonRoot' && (context.runAsNonRoot ?? ofPod.runAsNonRoot) === undefined) {
      // This field makes the node agent check the user of the image.
      context.runAsNonRoot = true;
    }
  }
  if ((context.runAsGroup ?? ofPod.runAsGroup) === undefined && spec.runAsGroup !== undefined) {
    const group = forcedId(spec.runAsGroup);
    if (group !== undefined) context.runAsGroup = group;
  }
  const appArmor = profileRules(policy.metadata.annotations, 'apparmor.security.beta', names).preset;
  if (appArmor !== '' && containerAppArmor(pod, container, names) === '')
    context.appArmorProfile = profileField(appArmor);
  applyCapabilities(context, policy);
  if (spec.readOnlyRootFilesystem === true) context.readOnlyRootFilesystem ??= true;
  if (context.allowPrivilegeEscalation === undefined) {
    const preset =
      spec.defaultAllowPrivilegeEscalation ?? (spec.allowPrivilegeEscalation === false ? false : undefined);
    if (preset !== undefined) context.allowPrivilegeEscalation = preset;
  }
  if (Object.keys(context).length > 0) container.securityContext = context;
}

function applyCapabilities(context: ContainerContext, { spec }: PodSecurityPolicy): void {
  const { add = [], drop = [] } = context.capabilities ?? {};
  const preset = (spec.defaultAddCapabilities ?? []).filter((capability) => !drop.includes(capability));
  const added = new Set([...add, ...preset]);
  const dropped = new Set([...drop, ...(spec.requiredDropCapabilities ?? [])]);
  if (added.size === new Set(add).size && dropped.size === new Set(drop).size) return;
  context.capabilities = {
    ...(added.size === 0 ? {} : { add: [...added].sort() }),
    ...(dropped.size === 0 ? {} : { drop: [...dropped].sort() }),
  };
}

/** The lowest id that a policy requires; undefined when the policy leaves a choice. */
function forcedId(strategy: {
  readonly rule?: string;
  readonly ranges?: readonly { readonly min: number }[];
}): number | undefined {
  return strategy.rule === 'MustRunAs' ? strategy.ranges?.[0]?.min : undefined;
}
