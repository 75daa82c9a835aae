/** The namespace of the leases and pods of the fleet. */
export const namespace = 'fleet';
export const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
export const nodes = '/api/v1/nodes';
export const pods = `/api/v1/namespaces/${namespace}/pods`;

export function nodeName(index: number): string {
  return `node-${String(index).padStart(6, '0')}`;
}

export function leaseOf(name: string): object {
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime() };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
}

/** The time now as a MicroTime. */
export function microTime(): string {
  return `${new Date().toISOString().slice(0, -1)}000Z`;
}

const images = Array.from({ length: 20 }, (_, i) => ({
  names: [`registry.example.com/team/application-${i}@sha256:${'0'.repeat(64)}`, `registry.example.com/team/app:${i}`],
  sizeBytes: 100_000_000 + i,
}));

/** A node as an agent registers it: about 5 kB. */
export function nodeOf(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', zone: `z${name.at(-1)}` },
    },
    spec: { podCIDR: '10.1.0.0/24' },
    status: {
      capacity: { cpu: '8', memory: '32Gi', pods: '110' },
      allocatable: { cpu: '8', memory: '31Gi', pods: '110' },
      conditions: conditions(),
      images,
      nodeInfo: { kubeletVersion: 'v1.37.2', osImage: 'Debian', architecture: 'amd64', kernelVersion: '6.1.0' },
    },
  };
}

function conditions(): object[] {
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  return ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
    type,
    status: type === 'Ready' ? 'True' : 'False',
    reason: `Kubelet${type}`,
    message: 'the agent reports it',
    lastHeartbeatTime: now,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
}

/** The patch that an agent sends when nothing but the time has changed. */
export function statusPatch(): string {
  return JSON.stringify({ status: { conditions: conditions() } });
}

/** A pod on a node: about 1.5 kB. */
export function podOf(name: string, node: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: 'web', release: 'stable', 'pod-template-hash': '5d4f8c7b9' } },
    spec: {
      nodeName: node,
      containers: ['web', 'sidecar'].map((container) => ({
        name: container,
        image: `registry.example.com/team/${container}:1.2.3`,
        ports: [{ containerPort: container === 'web' ? 8080 : 9090, name: container }],
        env: [
          { name: 'MODE', value: 'production' },
          { name: 'REGION', value: 'eu-central-1' },
        ],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
      })),
    },
  };
}
