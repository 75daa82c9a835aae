import type { Draws } from './draws.js';

export const zone = 'topology.kubernetes.io/zone';
export const hostname = 'kubernetes.io/hostname';
export const gpu = 'example.com/gpu';

export interface DrawnNode {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: object;
  readonly status: object;
}

/** A node with random labels, taints, room and images. */
export function drawNode(draws: Draws, i: number): DrawnNode {
  const name = `node-${i}`;
  const labels = {
    [hostname]: name,
    ...(draws.chance(0.9) ? { [zone]: draws.pick(['z1', 'z2', 'z3']) } : {}),
    ...(draws.chance(0.6) ? { disk: draws.pick(['ssd', 'hdd']) } : {}),
    ...(draws.chance(0.4) ? { size: String(draws.random.below(20)) } : {}),
  };
  const taint = () => ({
    key: draws.pick(['k', 'l']),
    value: draws.pick(['1', '2', '']),
    effect: draws.pick(['NoSchedule', 'NoExecute', 'PreferNoSchedule', 'PreferNoSchedule']),
  });
  const drawn = draws.few(0.3, taint);
  // Two taints with the same key and effect are refused.
  const [first, second] = drawn;
  const taints = first?.key === second?.key && first?.effect === second?.effect ? drawn.slice(0, 1) : drawn;
  const allocatable = {
    cpu: draws.pick(['2', '4', '8']),
    memory: draws.pick(['4Gi', '8Gi', '16Gi']),
    pods: draws.pick(['2', '10', '110']),
    ...(draws.chance(0.5) ? { 'ephemeral-storage': draws.pick(['1Gi', '10Gi']) } : {}),
    ...(draws.chance(0.3) ? { [gpu]: draws.pick(['0', '1', '2']) } : {}),
    ...(draws.chance(0.2) ? { 'hugepages-2Mi': '4Mi' } : {}),
  };
  const image = (names: string[]) => ({ names, sizeBytes: draws.random.below(2_000_000_000) });
  const images = [...draws.maybe(0.5, () => image(['app:1'])), ...draws.maybe(0.3, () => image(['app:2', 'app:two']))];
  return {
    metadata: { name, labels },
    spec: { taints: taints.length === 0 ? null : taints, unschedulable: draws.chance(0.08) },
    status: { allocatable, images },
  };
}
