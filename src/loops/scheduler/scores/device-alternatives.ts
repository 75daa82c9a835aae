import { DeviceFault } from '../devices/device-fault.js';
import { devicesOf } from '../filters/dynamic-resources.js';
import { type Score, stretched } from '../score.js';

/** Prefers nodes with devices that claims name before others. */
export const deviceAlternatives: Score = {
  name: 'DynamicResources',
  weight: 2,
  of(pod, nodes, cluster) {
    try {
      const devices = devicesOf(pod, cluster);
      if (devices === undefined) return undefined;
      const scores = nodes.map((node) => devices.scoreOn(node));
      return scores.some((score) => score === undefined) ? undefined : stretched(scores as number[]);
    } catch (error) {
      if (error instanceof DeviceFault) return undefined;
      throw error;
    }
  },
};
