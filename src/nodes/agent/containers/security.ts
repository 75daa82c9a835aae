import type { Container, EphemeralContainer } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { SeccompProfile } from '../../../objects/apis/core/v1/security-context.types.js';
import type { ContainerSecurity } from '../cri/container-messages.js';
import type { Image } from '../cri/image-messages.js';
import { namespaceModes, profileTypes } from '../cri/sandbox-messages.js';
import { ContainerConfigError } from './container-config-error.js';

/** Parts of /proc and /sys that containers don't see, unless they ask for an unmasked /proc. */
const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

const largestUser = 2 ** 31 - 1;

export interface SecurityInput {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly image: Image;
  /** The run whose processes an ephemeral container sees. */
  readonly targetId: string | undefined;
  /** Folder of seccomp profiles. */
  readonly seccompFolder: string;
}

/**
 * The security context of a container. @throws ContainerConfigError when it must not run as root and would, or nobody
 * can know.
 */
export function containerSecurity(input: SecurityInput): ContainerSecurity {
  const { pod, container } = input;
  const { spec } = pod;
  const own = container.securityContext ?? {};
  const shared = spec.securityContext ?? {};
  const user = userOf(input);
  const group = own.runAsGroup ?? shared.runAsGroup;
  const isPrivileged = own.privileged === true;
  const unmasked = own.procMount === 'Unmasked';
  const groups = [...(shared.supplementalGroups ?? []), ...(shared.fsGroup === undefined ? [] : [shared.fsGroup])];
  const seLinuxOptions = own.seLinuxOptions ?? shared.seLinuxOptions;
  const apparmor = own.appArmorProfile ?? shared.appArmorProfile;
  return {
    capabilities: {
      addCapabilities: (own.capabilities?.add ?? []).map(String),
      dropCapabilities: (own.capabilities?.drop ?? []).map(String),
    },
    privileged: isPrivileged,
    namespaceOptions: namespacesOf(pod, input.targetId),
    ...(seLinuxOptions ? { seLinuxOptions } : {}),
    ...user,
    ...(group === undefined || group === null ? {} : { runAsGroup: { value: Number(group) } }),
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    supplementalGroups: groups.map(Number),
    supplementalGroupsPolicy: shared.supplementalGroupsPolicy === 'Strict' ? 1 : 0,
    noNewPrivs: own.allowPrivilegeEscalation === false && !isPrivileged,
    maskedPaths: unmasked ? [] : maskedPaths,
    readonlyPaths: unmasked ? [] : readonlyPaths,
    ...(isPrivileged ? {} : { seccomp: seccompOf(own.seccompProfile ?? shared.seccompProfile, input.seccompFolder) }),
    ...(apparmor
      ? {
          apparmor: {
            profileType: profileTypes[apparmor.type as keyof typeof profileTypes] ?? 0,
            localhostRef: apparmor.localhostProfile ?? '',
          },
        }
      : {}),
  };
}

/** The namespaces that containers of a pod use. */
export function namespacesOf({ spec }: Pod, targetId?: string) {
  const { node, pod, container, target } = namespaceModes;
  const own = spec.hostPID ? node : spec.shareProcessNamespace ? pod : container;
  return {
    network: spec.hostNetwork ? node : pod,
    ipc: spec.hostIPC ? node : pod,
    pid: targetId === undefined ? own : target,
    ...(targetId === undefined ? {} : { targetId }),
  };
}

/** The seccomp filter; without a profile the container has none. */
export function seccompOf(profile: SeccompProfile | null | undefined, folder: string) {
  const type = (profile?.type ?? 'Unconfined') as keyof typeof profileTypes;
  return {
    profileType: profileTypes[type] ?? profileTypes.Unconfined,
    localhostRef: type === 'Localhost' ? `${folder}/${profile?.localhostProfile ?? ''}` : '',
  };
}

function userOf({ pod, container, image }: SecurityInput) {
  const own = container.securityContext ?? {};
  const shared = pod.spec.securityContext ?? {};
  const user = own.runAsUser ?? shared.runAsUser;
  const mustNotBeRoot = own.runAsNonRoot ?? shared.runAsNonRoot;
  const { metadata } = pod;
  const which = `pod: "${metadata.name}_${metadata.namespace}(${metadata.uid})", container: ${container.name}`;
  if (user !== undefined && user !== null) {
    if (mustNotBeRoot && Number(user) === 0) {
      throw new ContainerConfigError(`container's runAsUser breaks non-root policy (${which})`);
    }
    return { runAsUser: { value: Number(user) } };
  }
  const ofImage = image.uid?.value ?? (image.username === '' ? 0 : undefined);
  if (mustNotBeRoot && ofImage === 0) {
    throw new ContainerConfigError(`container has runAsNonRoot and image will run as root (${which})`);
  }
  if (mustNotBeRoot && ofImage === undefined) {
    const text = `image has non-numeric user (${image.username}), cannot verify user is non-root (${which})`;
    throw new ContainerConfigError(`container has runAsNonRoot and ${text}`);
  }
  // Some runtimes take the last 32 bits of a larger number, which may be those of root.
  if (mustNotBeRoot && ofImage !== undefined && !(ofImage > 0 && ofImage <= largestUser)) {
    const range = `(Must be 1-(${largestUser})): must be between 0 and ${largestUser}, inclusive`;
    const text = `image has an invalid user id (${ofImage}). ${range} (${which})`;
    throw new ContainerConfigError(`container has runAsNonRoot and ${text}`);
  }
  return ofImage === undefined ? { runAsUsername: image.username } : { runAsUser: { value: ofImage } };
}
