import type { Container, ContainerPort } from './container.types.js';
import { fractionalBytes } from './fractional-bytes.js';
import type { PodSpec } from './pod-spec.types.js';

/**
 * Warnings about settings of a pod's containers that may surprise users. `path` is the path of the spec. Every new pod
 * passes here and few get a warning, so texts and paths are composed only for warnings.
 */
export function containerWarnings(spec: PodSpec, path: string): string[] {
  const warnings: string[] = [];
  const ports: PlacedPort[] = [];
  const warn = (containers: readonly Container[] | null | undefined, field: ContainerField) =>
    containers?.forEach((container, index) => {
      warnAboutAmounts(container, `${path}.${field}[${index}]`, warnings);
      warnAboutEnvironment(container, `${path}.${field}[${index}]`, warnings);
      for (const [i, port] of (container.ports ?? []).entries()) {
        const placed = { port, field, index, i };
        warnAboutPort(placed, ports, path, warnings);
        ports.push(placed);
      }
    });
  warn(spec.initContainers, 'initContainers');
  warn(spec.containers, 'containers');
  return warnings;
}

type ContainerField = 'initContainers' | 'containers';

function warnAboutAmounts({ resources }: Container, path: string, warnings: string[]): void {
  for (const name of ['memory', 'ephemeral-storage'] as const) {
    for (const list of ['limits', 'requests'] as const) {
      const amount = resources[list]?.[name];
      if (amount !== undefined) warnings.push(...fractionalBytes(amount, `${path}.resources.${list}[${name}]`));
    }
  }
}

/** Warns about an environment variable that occurs twice: the last definition counts, and an apply keeps only one. */
function warnAboutEnvironment({ env = [] }: Container, path: string, warnings: string[]): void {
  if (env.length < 2) return;
  const seen = new Set<string>();
  for (const [i, { name }] of env.entries()) {
    if (seen.has(name)) {
      const text = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
      warnings.push(`${path}.env[${i}]: ${text}`);
    }
    seen.add(name);
  }
}

/** A port with its place in the spec of a pod. */
interface PlacedPort {
  readonly port: ContainerPort;
  readonly field: ContainerField;
  /** The place of its container. */
  readonly index: number;
  /** Its place in the container. */
  readonly i: number;
}

/** Compares a port with those before it. */
function warnAboutPort(placed: PlacedPort, earlier: readonly PlacedPort[], spec: string, warnings: string[]): void {
  const { port } = placed;
  const pathOf = ({ field, index, i }: PlacedPort) => `${spec}.${field}[${index}].ports[${i}]`;
  if (port.hostIP && !port.hostPort) {
    warnings.push(`${pathOf(placed)}: hostIP set without hostPort: ${portText(port)}`);
  }
  let named: PlacedPort | undefined;
  for (const other of earlier) {
    const relation = relationOf(port, other.port);
    if (relation !== undefined) {
      warnings.push(`${pathOf(placed)}: ${relation} port definition with ${pathOf(other)}`);
    }
    const isElsewhere = other.index !== placed.index || other.field !== placed.field;
    if (port.name && other.port.name === port.name && isElsewhere) named ??= other;
  }
  if (named === undefined) return;
  const effect = `services and probes that select ports by name will use ${pathOf(named)}`;
  warnings.push(`${pathOf(placed)}: duplicate port name ${JSON.stringify(port.name)} with ${pathOf(named)}, ${effect}`);
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
