import type { Container, ContainerPort } from './container.types.js';
import { fractionalBytes } from './fractional-bytes.js';
import type { PodSpec } from './pod-spec.types.js';

/** Warnings about settings of a pod's containers that may surprise users. `path` is the path of the spec. */
export function containerWarnings(spec: PodSpec, path: string): string[] {
  const ports = new PortWarnings();
  const of = (containers: readonly Container[] | null | undefined, field: string) =>
    (containers ?? []).flatMap((container, i) => {
      const at = `${path}.${field}[${i}]`;
      return [...amountWarnings(container, at), ...environmentWarnings(container, at), ...ports.add(container, at)];
    });
  const init = of(spec.initContainers, 'initContainers');
  return [...init, ...of(spec.containers, 'containers')];
}

function amountWarnings({ resources }: Container, path: string): string[] {
  const of = (name: string) =>
    (['limits', 'requests'] as const).flatMap((list) =>
      fractionalBytes(resources[list]?.[name], `${path}.resources.${list}[${name}]`),
    );
  return [...of('memory'), ...of('ephemeral-storage')];
}

/** Warns about an environment variable that occurs twice: the last definition counts, and an apply keeps only one. */
function environmentWarnings({ env = [] }: Container, path: string): string[] {
  const warnings: string[] = [];
  const seen = new Set<string>();
  env.forEach(({ name }, i) => {
    if (seen.has(name)) {
      const text = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
      warnings.push(`${path}.env[${i}]: ${text}`);
    }
    seen.add(name);
  });
  return warnings;
}

/** Compares the ports of all containers of a pod, in order. */
class PortWarnings {
  private readonly earlier: { readonly port: ContainerPort; readonly path: string; readonly container: string }[] = [];

  add({ ports = [] }: Container, container: string): string[] {
    const warnings: string[] = [];
    ports.forEach((port, i) => {
      const path = `${container}.ports[${i}]`;
      if (port.hostIP && !port.hostPort) warnings.push(`${path}: hostIP set without hostPort: ${portText(port)}`);
      for (const other of this.earlier) {
        const relation = relationOf(port, other.port);
        if (relation !== undefined) warnings.push(`${path}: ${relation} port definition with ${other.path}`);
      }
      const named = this.earlier.find((e) => port.name && e.port.name === port.name && e.container !== container);
      if (named !== undefined) {
        const effect = `services and probes that select ports by name will use ${named.path}`;
        warnings.push(`${path}: duplicate port name ${JSON.stringify(port.name)} with ${named.path}, ${effect}`);
      }
      this.earlier.push({ port, path, container });
    });
    return warnings;
  }
}

/** A port as programs know it from warnings. */
function portText({ name = '', hostPort = 0, containerPort, protocol, hostIP = '' }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}

/** How two definitions of one port of a pod conflict, if they do. */
function relationOf(a: ContainerPort, b: ContainerPort): string | undefined {
  if (a.containerPort !== b.containerPort || a.protocol !== b.protocol) return undefined;
  const [hostPort, otherPort] = [a.hostPort ?? 0, b.hostPort ?? 0];
  const [hostIp, otherIp] = [a.hostIP ?? '', b.hostIP ?? ''];
  if (hostPort === otherPort && hostIp === otherIp) return 'duplicate';
  if (hostPort === 0 || otherPort === 0) return 'overlapping';
  const isAmbiguous = hostPort === otherPort && (hostIp === '' || otherIp === '');
  return isAmbiguous ? 'dangerously ambiguous' : undefined;
}
