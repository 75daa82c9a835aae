import type { Container } from '../container.types.js';
import type { PodSpec } from '../pod-spec.types.js';
import { applyContainerDefaults } from './container.defaults.js';
import { roundResources } from './resources.defaults.js';
import { applyVolumeDefaults } from './volume.defaults.js';

/** Fills the defaults that pods and pod templates share. Changes `spec`. */
export function applyPodSpecDefaults(spec: PodSpec): void {
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.restartPolicy ||= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= 'default-scheduler';
  syncServiceAccount(spec);
  for (const volume of spec.volumes ?? []) applyVolumeDefaults(volume);
  for (const container of spec.initContainers ?? []) applyContainerDefaults(container);
  for (const container of spec.containers ?? []) applyContainerDefaults(container);
  for (const container of spec.ephemeralContainers ?? []) applyContainerDefaults(container);
  roundResources(spec.overhead);
}

/**
 * Fills the defaults that only pods have, not templates: requests follow limits, service links are on, ports are the
 * host's in its network. Called after {@link applyPodSpecDefaults}. Changes `spec`.
 */
export function applyPodOnlyDefaults(spec: PodSpec): void {
  spec.enableServiceLinks ??= true;
  for (const container of spec.containers ?? []) applyRequestDefaults(container);
  for (const container of spec.initContainers ?? []) applyRequestDefaults(container);
  if (spec.hostNetwork !== true) return;
  applyHostPorts(spec.containers ?? []);
  applyHostPorts(spec.initContainers ?? []);
}

/** `serviceAccount` is the old name of `serviceAccountName`; both fields hold the same value. Changes `spec`. */
export function syncServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** In the host's network, each container port is also a host port. */
function applyHostPorts(containers: readonly Container[]): void {
  for (const { ports } of containers) {
    for (const port of ports ?? []) port.hostPort ||= port.containerPort;
  }
}

function applyRequestDefaults({ resources }: Container): void {
  const { limits } = resources;
  if (limits === undefined) return;
  const requests = resources.requests ?? {};
  for (const name of Object.keys(limits)) requests[name] ??= limits[name] as string;
  if (Object.keys(requests).length > 0) resources.requests = requests;
}
