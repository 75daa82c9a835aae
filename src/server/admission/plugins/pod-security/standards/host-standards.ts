import type { LifecycleHandler, Probe } from '../../../../../objects/apis/core/v1/probe.types.js';
import {
  containersText,
  containersWhere,
  type PodCheck,
  plural,
  quoted,
  type Standard,
  settersText,
  sortedSet,
} from './standard.js';

const checkHostNamespaces: PodCheck = ({ spec }) => {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
  if (used.length === 0) return undefined;
  return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
};

const checkHostPathVolumes: PodCheck = ({ spec }) => {
  const volumes = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  if (volumes.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural('volume', volumes)} ${quoted(volumes)}` };
};

const checkHostPorts: PodCheck = (pod) => {
  const ports = sortedSet(
    pod.containers
      .flatMap((container) => (container.ports ?? []).flatMap(({ hostPort }) => hostPort || []))
      .map(String),
  );
  if (ports.length === 0) return undefined;
  const users = containersWhere(pod, (container) => container.ports?.some(({ hostPort }) => hostPort) === true);
  const use = users.length === 1 ? 'uses' : 'use';
  return {
    reason: 'hostPort',
    detail: `${containersText(users)} ${use} ${plural('hostPort', ports)} ${ports.join(', ')}`,
  };
};

function hostsOf(handler: Probe | LifecycleHandler | undefined): string[] {
  return [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host): host is string => !!host);
}

const checkHandlerHosts: PodCheck = ({ containers }) => {
  const users: string[] = [];
  const hosts: string[] = [];
  for (const { name, livenessProbe, readinessProbe, startupProbe, lifecycle } of containers) {
    const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
    const named = handlers.flatMap(hostsOf);
    if (named.length === 0) continue;
    users.push(name);
    hosts.push(...named);
  }
  if (users.length === 0) return undefined;
  const different = sortedSet(hosts);
  const use = users.length === 1 ? 'uses' : 'use';
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersText(users)} ${use} ${plural('probe or lifecycle host', different)} ${quoted(different)}`,
  };
};

const checkHostProcess: PodCheck = (pod) => {
  const isPodBad = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const bad = containersWhere(pod, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true);
  if (!isPodBad && bad.length === 0) return undefined;
  const detail = `${settersText(isPodBad, bad)} must not set securityContext.windowsOptions.hostProcess=true`;
  return { reason: 'hostProcess', detail };
};

/** The rules about what a pod may share with its node. */
export const hostStandards: readonly Standard[] = [
  { id: 'hostNamespaces', level: 'baseline', versions: [{ since: 0, check: checkHostNamespaces }] },
  { id: 'hostPathVolumes', level: 'baseline', versions: [{ since: 0, check: checkHostPathVolumes }] },
  { id: 'hostPorts', level: 'baseline', versions: [{ since: 0, check: checkHostPorts }] },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', versions: [{ since: 34, check: checkHandlerHosts }] },
  { id: 'windowsHostProcess', level: 'baseline', versions: [{ since: 0, check: checkHostProcess }] },
];
