import type { Container, EphemeralContainer } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { restartAllAction, restartRuleAction } from '../../../objects/apis/core/v1/restart-rules.js';

/** The source of a pod. */
export type PodSource = 'api' | 'file' | 'http' | 'submission';

/** Annotations of pods that did not come from the API, by their last part. */
export const podAnnotations = {
  source: 'config.source',
  hash: 'config.hash',
  mirror: 'config.mirror',
  seen: 'config.seen',
} as const;

/** The role of a container in its pod. A sidecar is an init container that keeps running. */
export type ContainerRole = 'init' | 'sidecar' | 'app' | 'ephemeral';

/** A container as it is declared, with its role. */
export interface DeclaredContainer {
  readonly role: ContainerRole;
  readonly container: Container | EphemeralContainer;
}

/** The reason in the statuses of containers that ended because their whole pod restarts. */
export const restartingAllReason = 'RestartingAllContainers';

export function roleOfInit(container: Container): 'init' | 'sidecar' {
  return container.restartPolicy === 'Always' ? 'sidecar' : 'init';
}

/** All containers in the order in which they start. */
export function declaredContainers({ spec }: Pod): DeclaredContainer[] {
  return [
    ...(spec.initContainers ?? []).map((container) => ({ role: roleOfInit(container), container })),
    ...(spec.containers ?? []).map((container) => ({ role: 'app' as const, container })),
    ...(spec.ephemeralContainers ?? []).map((container) => ({ role: 'ephemeral' as const, container })),
  ];
}

/** Whether the whole pod restarts after a container ended like this. */
export function restartsAll(declared: DeclaredContainer, exitCode: number): boolean {
  return declared.role !== 'ephemeral' && restartRuleAction(declared.container, exitCode) === restartAllAction;
}

/** Whether a container is restarted after it ended like this. */
export function isRestarted(pod: Pod, declared: DeclaredContainer, exitCode: number): boolean {
  const { role, container } = declared;
  if (role === 'ephemeral') return false;
  if (role === 'sidecar' || restartRuleAction(container, exitCode) !== undefined) return true;
  const policy = container.restartPolicy ?? pod.spec.restartPolicy;
  if (role === 'init') return exitCode !== 0 && policy !== 'Never';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

export function podKey({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

export function podUid({ metadata }: Pod): string {
  return metadata.uid ?? '';
}

/** The grace period of a pod's containers, in seconds. */
export function graceSeconds({ metadata, spec }: Pod): number {
  return Number(metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 30);
}
