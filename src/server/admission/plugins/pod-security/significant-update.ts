import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { ProfileAnnotations } from '../../../../objects/apis/core/v1/profile-annotations.js';
import type { AnyContainer } from '../../pods/containers-of.js';

/**
 * Whether an update changes a field that the checks read. Of these fields, only images, ephemeral containers and
 * annotations of containers can change on a running pod. Updates of all other fields must succeed even if the pod
 * violates today's rules.
 */
export function isSignificantUpdate(pod: Pod, old: Pod, keys: ProfileAnnotations): boolean {
  const containers = pod.spec.containers ?? [];
  const initContainers = pod.spec.initContainers ?? [];
  const oldContainers = old.spec.containers ?? [];
  const oldInitContainers = old.spec.initContainers ?? [];
  if (pod.metadata.annotations?.[keys.seccompPod] !== old.metadata.annotations?.[keys.seccompPod]) return true;
  if (containers.length !== oldContainers.length || initContainers.length !== oldInitContainers.length) return true;
  const changes = (container: AnyContainer, before: AnyContainer | undefined): boolean =>
    before === undefined || container.image !== before.image || hasNewProfile(container.name, pod, old, keys);
  if (containers.some((container, i) => changes(container, oldContainers[i]))) return true;
  if (initContainers.some((container, i) => changes(container, oldInitContainers[i]))) return true;
  const byName = new Map((old.spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  return (pod.spec.ephemeralContainers ?? []).some((container) => changes(container, byName.get(container.name)));
}

function hasNewProfile(
  container: string,
  { metadata: { annotations } }: Pod,
  { metadata: { annotations: before } }: Pod,
  { appArmorPrefix, seccompPrefix }: ProfileAnnotations,
): boolean {
  return [appArmorPrefix, seccompPrefix].some(
    (prefix) => annotations?.[prefix + container] !== before?.[prefix + container],
  );
}
