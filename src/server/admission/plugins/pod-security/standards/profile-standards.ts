import type { VendorNames } from '../../../../../base/machinery/vendor.js';
import {
  type ProfileAnnotations,
  profileAnnotations,
} from '../../../../../objects/apis/core/v1/profile-annotations.js';
import type {
  PodSecurityContext,
  SecurityContext,
} from '../../../../../objects/apis/core/v1/security-context.types.js';
import {
  type CheckedPod,
  containersText,
  containersWhere,
  type PodCheck,
  plural,
  quoted,
  type Standard,
  settersText,
  sortedSet,
  unlessWindows,
} from './standard.js';

/** The security context of a pod or of a container. */
type AnySecurityContext = PodSecurityContext | SecurityContext;

const allowedProfiles: ReadonlySet<string> = new Set(['RuntimeDefault', 'Localhost']);

function isLocalProfile(value: string): boolean {
  return value.startsWith('localhost/');
}

/** Which parts of a pod set which forbidden types of a profile. */
interface BadProfiles {
  readonly isPodBad: boolean;
  readonly containers: readonly string[];
  /** Sorted and without duplicates. */
  readonly types: readonly string[];
}

function badProfiles(pod: CheckedPod, typeOf: (context: AnySecurityContext) => string | undefined): BadProfiles {
  const badType = (context: AnySecurityContext | undefined): string | undefined => {
    const type = context === undefined ? undefined : typeOf(context);
    return type === undefined || allowedProfiles.has(type) ? undefined : type;
  };
  const ofPod = badType(pod.spec.securityContext);
  const ofContainers = pod.containers.flatMap(({ securityContext }) => badType(securityContext) ?? []);
  return {
    isPodBad: ofPod !== undefined,
    containers: containersWhere(pod, ({ securityContext }) => badType(securityContext) !== undefined),
    types: sortedSet(ofPod === undefined ? ofContainers : [ofPod, ...ofContainers]),
  };
}

function appArmorCheck(prefix: string): PodCheck {
  return (pod) => {
    const { isPodBad, containers, types } = badProfiles(pod, ({ appArmorProfile }) => appArmorProfile?.type);
    const annotations = Object.entries(pod.annotations)
      .filter(([key, value]) => key.startsWith(prefix) && !isAllowedAppArmor(value))
      .map(([key, value]) => `${key}="${value}"`)
      .sort();
    const values = [...types, ...annotations];
    if (values.length === 0) return undefined;
    const setters = [settersText(isPodBad, containers)].filter((text) => text !== '');
    if (annotations.length > 0) setters.push(plural('annotation', annotations));
    return {
      reason: plural('forbidden AppArmor profile', values),
      detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
    };
  };
}

function isAllowedAppArmor(value: string): boolean {
  return value === '' || value === 'runtime/default' || isLocalProfile(value);
}

function seccompAnnotationCheck({ seccompPod, seccompPrefix }: ProfileAnnotations): PodCheck {
  return ({ annotations, containers }) => {
    const keys = [seccompPod, ...containers.map(({ name }) => seccompPrefix + name)];
    const bad = sortedSet(
      keys
        .filter((key) => Object.hasOwn(annotations, key) && !isAllowedSeccomp(annotations[key] ?? ''))
        .map((key) => `${key}=${JSON.stringify(annotations[key])}`),
    );
    if (bad.length === 0) return undefined;
    return { reason: 'seccompProfile', detail: `forbidden ${plural('annotation', bad)} ${bad.join(', ')}` };
  };
}

function isAllowedSeccomp(value: string): boolean {
  return value === 'runtime/default' || value === 'docker/default' || isLocalProfile(value);
}

const checkSeccomp: PodCheck = (pod) => {
  const { isPodBad, containers, types } = badProfiles(pod, ({ seccompProfile }) => seccompProfile?.type);
  if (types.length === 0) return undefined;
  const setters = settersText(isPodBad, containers);
  const detail = `${setters} must not set securityContext.seccompProfile.type to ${quoted(types)}`;
  return { reason: 'seccompProfile', detail };
};

const checkSeccompStrictly: PodCheck = (pod) => {
  const bad = checkSeccomp(pod);
  if (bad !== undefined || pod.spec.securityContext?.seccompProfile !== undefined) return bad;
  const silent = containersWhere(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined);
  if (silent.length === 0) return undefined;
  const setting = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason: 'seccompProfile', detail: `pod or ${containersText(silent)} ${setting}` };
};

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

function seLinuxCheck(allowed: ReadonlySet<string>): PodCheck {
  const isBad = (context: AnySecurityContext | undefined): boolean => {
    const { type = '', user, role } = context?.seLinuxOptions ?? {};
    return !allowed.has(type) || !!user || !!role;
  };
  return (pod) => {
    const contexts = [pod.spec.securityContext, ...pod.containers.map(({ securityContext }) => securityContext)];
    if (!contexts.some(isBad)) return undefined;
    const options = contexts.map((context) => context?.seLinuxOptions);
    const types = sortedSet(options.flatMap((each) => each?.type ?? []).filter((type) => !allowed.has(type)));
    const details = types.length === 0 ? [] : [`${plural('type', types)} ${quoted(types)}`];
    if (options.some((each) => each?.user)) details.push('user may not be set');
    if (options.some((each) => each?.role)) details.push('role may not be set');
    const containers = containersWhere(pod, ({ securityContext }) => isBad(securityContext));
    const setters = settersText(isBad(pod.spec.securityContext), containers);
    return {
      reason: 'seLinuxOptions',
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${details.join('; ')}`,
    };
  };
}

/** The rules about AppArmor, seccomp and SELinux. */
export function profileStandards(names: VendorNames): readonly Standard[] {
  const annotations = profileAnnotations(names);
  return [
    {
      id: 'appArmorProfile',
      level: 'baseline',
      versions: [{ since: 0, check: appArmorCheck(annotations.appArmorPrefix) }],
    },
    {
      id: 'seLinuxOptions',
      level: 'baseline',
      versions: [
        { since: 0, check: seLinuxCheck(new Set(seLinuxTypes)) },
        { since: 31, check: seLinuxCheck(new Set([...seLinuxTypes, 'container_engine_t'])) },
      ],
    },
    {
      id: 'seccompProfile_baseline',
      level: 'baseline',
      versions: [
        { since: 0, check: seccompAnnotationCheck(annotations) },
        { since: 19, check: checkSeccomp },
      ],
    },
    {
      id: 'seccompProfile_restricted',
      level: 'restricted',
      overrides: ['seccompProfile_baseline'],
      versions: [
        { since: 19, check: checkSeccompStrictly },
        { since: 25, check: unlessWindows(checkSeccompStrictly) },
      ],
    },
  ];
}
