import { gpu, hostname, zone } from './draw-node.js';
import type { Draws } from './draws.js';
import { deviceClaims } from './furniture.js';

export interface DrawnPod {
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

const selector = (draws: Draws) =>
  draws.pick<object>([
    { matchLabels: { app: 'web' } },
    { matchLabels: { app: 'db' } },
    { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] },
    { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
  ]);

function affinityTerm(draws: Draws): object {
  return {
    topologyKey: draws.pick([zone, hostname, hostname, 'disk']),
    labelSelector: selector(draws),
    ...(draws.chance(0.15) ? { namespaces: ['other'] } : {}),
    ...(draws.chance(0.15) ? { namespaceSelector: draws.pick<object>([{}, { matchLabels: { team: 'a' } }]) } : {}),
    ...(draws.chance(0.1)
      ? { matchLabelKeys: ['version'] }
      : draws.chance(0.1)
        ? { mismatchLabelKeys: ['version'] }
        : {}),
  };
}

function requirement(draws: Draws): object {
  return draws.pick<object>([
    { key: 'disk', operator: 'In', values: ['ssd'] },
    { key: 'disk', operator: 'NotIn', values: ['ssd'] },
    { key: zone, operator: 'In', values: ['z1', 'z2'] },
    { key: 'size', operator: 'Gt', values: ['9'] },
    { key: 'size', operator: 'Lt', values: ['9'] },
    { key: 'disk', operator: 'Exists' },
    { key: 'disk', operator: 'DoesNotExist' },
  ]);
}

function nodeTerm(draws: Draws): object {
  const field = () => ({
    key: 'metadata.name',
    operator: draws.pick(['In', 'NotIn']),
    values: [`node-${draws.random.below(3)}`],
  });
  const matchFields = draws.maybe(0.2, field);
  const matchExpressions = draws.few(matchFields.length > 0 ? 0.4 : 1, () => requirement(draws));
  return {
    ...(matchFields.length > 0 ? { matchFields } : {}),
    ...(matchExpressions.length > 0 ? { matchExpressions } : {}),
  };
}

function affinity(draws: Draws): object {
  const weight = () => 1 + draws.random.below(100);
  const required = draws.few(0.25, () => nodeTerm(draws));
  const pods = (share: number) => ({
    requiredDuringSchedulingIgnoredDuringExecution: draws.few(share, () => affinityTerm(draws)),
    preferredDuringSchedulingIgnoredDuringExecution: draws.few(0.25, () => ({
      weight: weight(),
      podAffinityTerm: affinityTerm(draws),
    })),
  });
  return {
    nodeAffinity: {
      ...(required.length > 0
        ? { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required } }
        : {}),
      preferredDuringSchedulingIgnoredDuringExecution: draws.few(0.3, () => ({
        weight: weight(),
        preference: { matchExpressions: [requirement(draws)] },
      })),
    },
    podAffinity: pods(0.12),
    podAntiAffinity: pods(0.15),
  };
}

function spread(draws: Draws): object {
  const isHard = draws.chance(0.5);
  return {
    maxSkew: 1 + draws.random.below(2),
    topologyKey: draws.pick([zone, hostname, 'disk']),
    whenUnsatisfiable: isHard ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector: selector(draws),
    ...(isHard && draws.chance(0.2) ? { minDomains: 1 + draws.random.below(4) } : {}),
    ...(draws.chance(0.2) ? { nodeAffinityPolicy: draws.pick(['Honor', 'Ignore']) } : {}),
    ...(draws.chance(0.2) ? { nodeTaintsPolicy: draws.pick(['Honor', 'Ignore']) } : {}),
    ...(draws.chance(0.15) ? { matchLabelKeys: ['version'] } : {}),
  };
}

/** Constraints on different keys: two with the same key and effect are refused. */
function spreads(draws: Draws): object[] {
  const drawn = draws.few(0.3, () => spread(draws)) as { topologyKey: string; whenUnsatisfiable: string }[];
  const [first, second] = drawn;
  const alike = first?.topologyKey === second?.topologyKey && first?.whenUnsatisfiable === second?.whenUnsatisfiable;
  return alike && first !== undefined ? [first] : drawn;
}

function toleration(draws: Draws): object {
  return draws.pick<object>([
    { operator: 'Exists' },
    { key: 'k', operator: 'Exists' },
    { key: 'l', value: '1' },
    { key: 'k', value: '1', effect: 'NoSchedule' },
    { operator: 'Exists', effect: 'NoExecute' },
    { key: 'l', operator: 'Exists', effect: 'PreferNoSchedule' },
    { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' },
  ]);
}

/** Volumes whose claims are those of {@link claims} in the furniture of a cluster. */
function volumes(draws: Draws, names: readonly string[]): object[] {
  return draws
    .few(0.15, () => draws.pick(names))
    .map((name, i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: name } }));
}

function requests(draws: Draws, isSmall: boolean): Readonly<Record<string, string>> {
  return {
    ...(draws.chance(0.8)
      ? { cpu: draws.pick(isSmall ? ['10m', '100m', '300m'] : ['100m', '500m', '1', '2', '3']) }
      : {}),
    ...(draws.chance(0.8)
      ? { memory: draws.pick(isSmall ? ['10Mi', '300Mi', '500Mi'] : ['100Mi', '1Gi', '3Gi']) }
      : {}),
    ...(draws.chance(0.1) ? { 'ephemeral-storage': draws.pick(['10Mi', '2Gi']) } : {}),
  };
}

function container(draws: Draws, isSmall: boolean): object {
  const own = requests(draws, isSmall);
  const limits = !isSmall && draws.chance(0.12) ? { [draws.pick([gpu, 'example.com/none'])]: '1' } : {};
  const pages = !isSmall && draws.chance(0.05) ? { 'hugepages-2Mi': '4Mi' } : {};
  const port = () => ({
    containerPort: 1,
    hostPort: draws.pick([80, 81]),
    ...(draws.chance(0.4) ? { hostIP: draws.pick(['10.0.0.1', '0.0.0.0', '10.0.0.2']) } : {}),
    ...(draws.chance(0.2) ? { protocol: 'UDP' } : {}),
  });
  return {
    name: 'c',
    image: draws.pick(['app:1', 'app:2', 'other']),
    resources: {
      requests: { ...own, ...pages, ...(pages['hugepages-2Mi'] === undefined ? {} : { cpu: '100m' }) },
      limits: { ...limits, ...pages },
    },
    ports: draws.maybe(0.15, port),
  };
}

/**
 * A pod with random demands.
 *
 * @param isSmall for existing pods, so that no node has more pods than fit
 * @param claimNames claims of its namespace that it may use
 */
export function drawPod(draws: Draws, isSmall: boolean, claimNames: readonly string[]): DrawnPod {
  const initContainers = isSmall
    ? []
    : draws.maybe(0.2, () => ({
        name: 'i',
        image: 'i',
        resources: { requests: { cpu: draws.pick(['1', '4']) } },
        ...(draws.chance(0.4) ? { restartPolicy: 'Always' } : {}),
      }));
  return {
    labels: {
      app: draws.pick(['web', 'db']),
      ...(draws.chance(0.4) ? { version: draws.pick(['1', '2']) } : {}),
    },
    spec: {
      containers: [container(draws, isSmall)],
      initContainers,
      tolerations: draws.few(0.35, () => toleration(draws)),
      ...(draws.chance(0.12) ? { nodeSelector: { disk: 'ssd' } } : {}),
      ...(!isSmall && draws.chance(0.1) ? { resources: { requests: { cpu: '7', memory: '4Gi' } } } : {}),
      ...(!isSmall && draws.chance(0.1) ? { priorityClassName: 'calm' } : {}),
      affinity: affinity(draws),
      topologySpreadConstraints: spreads(draws),
      volumes: isSmall ? [] : volumes(draws, claimNames),
      resourceClaims: draws
        .maybe(isSmall ? 0 : 0.12, () => draws.pick(deviceClaims))
        .map((resourceClaimName) => ({ name: 'devices', resourceClaimName })),
    },
  };
}
