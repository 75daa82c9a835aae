import type { Taint, Toleration } from '../../objects/apis/core/v1/affinity.types.js';

/** Whether a toleration covers a taint, by the rules of the field. */
export function tolerates({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  switch (operator as string) {
    case 'Exists':
      return true;
    case '':
    case 'Equal':
      return key !== '' && value === (taint.value ?? '');
    case 'Gt':
      return isWhole(value) && isWhole(taint.value) && BigInt(taint.value) > BigInt(value);
    case 'Lt':
      return isWhole(value) && isWhole(taint.value) && BigInt(taint.value) < BigInt(value);
    default:
      return false;
  }
}

function isWhole(text: string | undefined): text is string {
  return text !== undefined && /^-?\d+$/.test(text);
}

/** The first taint with one of the effects that none of the tolerations covers. */
export function untolerated(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: ReadonlySet<string>,
): Taint | undefined {
  for (const taint of taints) {
    if (effects.has(taint.effect) && !isTolerated(taint, tolerations)) return taint;
  }
  return undefined;
}

/** Whether one of the tolerations covers the taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}

/** Effects that keep a pod from being placed. */
export const keepingAway: ReadonlySet<string> = new Set(['NoSchedule', 'NoExecute']);
