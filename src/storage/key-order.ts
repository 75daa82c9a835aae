import { compareBytewise } from '../base/machinery/compare-bytewise.js';
import type { ListPosition } from './storage.interface.js';

/** Byte order of (namespace, name). */
export function comparePositions(a: ListPosition, b: ListPosition): number {
  return compareBytewise(a.namespace, b.namespace) || compareBytewise(a.name, b.name);
}
