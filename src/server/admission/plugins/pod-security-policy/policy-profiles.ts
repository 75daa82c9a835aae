import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { AnyContainer } from '../../pods/containers-of.js';

type Annotations = Readonly<Record<string, string>> | undefined;
type Profile = NonNullable<NonNullable<AnyContainer['securityContext']>['seccompProfile']>;

/** A policy's rules for the profiles of one kind, in annotations. */
export interface ProfileRules {
  /** The profile to set; empty for none. */
  readonly preset: string;
  /** Unset if the policy does not list allowed profiles. */
  readonly allowed: readonly string[] | undefined;
}

const runtimeDefault = 'runtime/default';

/** Reads the profiles that a policy sets and allows. `kind` is the subdomain of its annotations. */
export function profileRules(
  annotations: Annotations,
  kind: 'seccomp.security.alpha' | 'apparmor.security.beta',
  { labelPrefix }: VendorNames,
): ProfileRules {
  const domain = `${kind}.${labelPrefix}`;
  const allowed = annotations?.[`${domain}/allowedProfileNames`];
  return {
    preset: plain(annotations?.[`${domain}/defaultProfileName`] ?? ''),
    allowed: allowed === undefined ? undefined : allowed.split(',').map((name) => plain(name.trim())),
  };
}

/** The profile field of a pod for a profile name of a policy. */
export function profileField(name: string): Profile {
  if (name === runtimeDefault) return { type: 'RuntimeDefault' };
  if (name.startsWith('localhost/')) return { type: 'Localhost', localhostProfile: name.slice('localhost/'.length) };
  return { type: 'Unconfined' };
}

/** The seccomp profile of a pod itself; empty when it has none. */
export function podSeccomp({ metadata, spec }: Pod, { labelPrefix }: VendorNames): string {
  const annotation = metadata.annotations?.[`seccomp.security.alpha.${labelPrefix}/pod`];
  return nameOf(spec.securityContext?.seccompProfile) ?? plain(annotation ?? '');
}

/** The seccomp profile of a container: its own, or that of its pod. */
export function containerSeccomp(pod: Pod, container: AnyContainer, names: VendorNames): string {
  const key = `container.seccomp.security.alpha.${names.labelPrefix}/${container.name}`;
  const annotation = pod.metadata.annotations?.[key];
  const own = nameOf(container.securityContext?.seccompProfile) ?? (annotation && plain(annotation));
  return own ?? podSeccomp(pod, names);
}

/** The AppArmor profile of a container; empty when it has none. */
export function containerAppArmor(pod: Pod, container: AnyContainer, { labelPrefix }: VendorNames): string {
  const annotation = pod.metadata.annotations?.[`container.apparmor.security.beta.${labelPrefix}/${container.name}`];
  const own = nameOf(container.securityContext?.appArmorProfile) ?? annotation;
  return own ?? nameOf(pod.spec.securityContext?.appArmorProfile) ?? '';
}

function nameOf(
  profile: { readonly type: string; readonly localhostProfile?: string } | undefined,
): string | undefined {
  switch (profile?.type) {
    case undefined:
      return undefined;
    case 'RuntimeDefault':
      return runtimeDefault;
    case 'Localhost':
      return `localhost/${profile?.localhostProfile ?? ''}`;
    default:
      return 'unconfined';
  }
}

/** Replaces an older name of the runtime's default profile. */
function plain(name: string): string {
  return name === 'docker/default' ? runtimeDefault : name;
}
