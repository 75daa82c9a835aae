/** A pod of about 2 KB that differs from every other as real ones do. */
export function podJson(name: string, revision: number): string {
  const container = (n: number) => ({
    name: `container-${n}`,
    image: `registry.example.com/team/application-${n}:v1.${revision}`,
    env: [{ name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } }],
    resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '50m', memory: '64Mi' } },
    terminationMessagePath: '/dev/termination-log',
    imagePullPolicy: 'IfNotPresent',
  });
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: crypto.randomUUID(),
  });
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: crypto.randomUUID(),
      labels: { app: 'bench', revision: `${revision}` },
    },
    spec: { nodeName: `node-${revision % 50}`, containers: [1, 2, 3].map(container) },
    status: {
      phase: 'Running',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
      containerStatuses: [1, 2, 3].map((n) => ({
        name: `container-${n}`,
        containerID: crypto.randomUUID(),
        ready: true,
      })),
    },
  });
}
