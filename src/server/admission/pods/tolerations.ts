import type { Toleration } from '../../../objects/apis/core/v1/affinity.types.js';

/** If both lists together are longer, they are only concatenated: comparing every pair would take too long. */
const maxCompared = 400;

/**
 * Compares field by field: lists are compared in pairs, and a generic deep comparison would take a hundred times as
 * long.
 */
function isSame(a: Toleration, b: Toleration): boolean {
  return (
    a.key === b.key &&
    a.value === b.value &&
    a.effect === b.effect &&
    a.operator === b.operator &&
    a.tolerationSeconds === b.tolerationSeconds
  );
}

/** Whether `a` tolerates everything that `b` tolerates. */
export function coversToleration(a: Toleration, b: Toleration): boolean {
  if (isSame(a, b)) return true;
  const { key = '', operator = 'Equal', value = '', effect = '' } = a;
  if (key !== (b.key ?? '') && (key !== '' || operator !== 'Exists')) return false;
  if (effect !== (b.effect ?? '') && effect !== '') return false;
  if (effect === 'NoExecute' && a.tolerationSeconds !== undefined) {
    if (b.tolerationSeconds === undefined || b.tolerationSeconds > a.tolerationSeconds) return false;
  }
  if (operator === 'Exists') return true;
  return (b.operator || 'Equal') === 'Equal' && value === (b.value ?? '');
}

/** Joins both lists in this order, without tolerations that another one covers; among equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  if (all.length > maxCompared) return all;
  const merged: Toleration[] = [];
  all.forEach((toleration, i) => {
    const covers = (other: Toleration) => coversToleration(other, toleration);
    const coversMore = (other: Toleration, j: number) => j > i && covers(other) && !isSame(other, toleration);
    if (!merged.some(covers) && !all.some(coversMore)) merged.push(toleration);
  });
  return merged;
}
