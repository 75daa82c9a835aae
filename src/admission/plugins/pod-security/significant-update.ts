import type { AdmittedContainer, AdmittedPod } from '../../pods/pod-shape.js';
import type { ProfileAnnotations } from './standards/profile-standards.js';

/**
 * Whether an update changes something that the checks look at. Of what they look at, only images, the ephemeral
 * containers and annotations of containers can change; a pod that runs must stay changeable in everything else, even if
 * it breaks the rules of today.
 */
export function isSignificantUpdate(pod: AdmittedPod, old: AdmittedPod, keys: ProfileAnnotations): boolean {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec;
  const { containers: oldContainers = [], initContainers: oldInitContainers = [] } = old.spec;
  if (pod.metadata.annotations?.[keys.seccompPod] !== old.metadata.annotations?.[keys.seccompPod]) return true;
  if (containers.length !== oldContainers.length || initContainers.length !== oldInitContainers.length) return true;
  const changes = (container: AdmittedContainer, before: AdmittedContainer | undefined): boolean =>
    before === undefined || container.image !== before.image || hasNewProfile(container.name, pod, old, keys);
  if (containers.some((container, i) => changes(container, oldContainers[i]))) return true;
  if (initContainers.some((container, i) => changes(container, oldInitContainers[i]))) return true;
  const byName = new Map((old.spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  return ephemeralContainers.some((container) => changes(container, byName.get(container.name)));
}

function hasNewProfile(
  container: string,
  { metadata: { annotations } }: AdmittedPod,
  { metadata: { annotations: before } }: AdmittedPod,
  { appArmorPrefix, seccompPrefix }: ProfileAnnotations,
): boolean {
  return [appArmorPrefix, seccompPrefix].some(
    (prefix) => annotations?.[prefix + container] !== before?.[prefix + container],
  );
}
