import { formatTime } from '../../base/machinery/clock.js';
import type { Usage } from '../../base/machinery/node-usage.js';
import { formatDuration } from '../../base/machinery/values/duration.js';
import { canonicalQuantity } from '../../base/machinery/values/quantity.js';

/** CPU and memory usage as quantities. */
export function usageQuantities({ cpuNanoCores, memoryBytes }: Usage): { cpu: string; memory: string } {
  return {
    cpu: canonicalQuantity(`${Math.max(0, Math.round(cpuNanoCores))}n`),
    memory: canonicalQuantity(`${Math.floor(memoryBytes / 1024)}Ki`),
  };
}

/** The fields for the time and the window of a measurement. */
export function measuredAt({ at, windowMs }: Usage): { timestamp: string; window: string } {
  return { timestamp: formatTime(at), window: formatDuration(BigInt(Math.round(windowMs)) * 1_000_000n) };
}
