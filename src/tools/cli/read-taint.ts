import type { Taint } from '../../objects/apis/core/v1/affinity.types.js';

/** A taint as flags spell it: `key=value:NoSchedule`, or without a value. */
export function readTaint(text: string): Taint {
  const [pair = '', effect = ''] = text.split(':');
  const [key = '', value] = pair.split('=');
  return { key, effect, ...(value ? { value } : {}) } as Taint;
}
