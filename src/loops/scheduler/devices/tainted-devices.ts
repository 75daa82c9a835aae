import type { Device } from '../../../objects/apis/resource/v1/device.types.js';
import type { DeviceTaint, DeviceToleration } from '../../../objects/apis/resource/v1/device-taint.types.js';
import type { DeviceTaintRule } from '../../../objects/apis/resource/v1/device-taint-rule.types.js';
import type { DeviceName } from './device-objects.js';

/** Whether a rule puts its taint on a device. A rule without a selector applies to no device. */
export function isRuleFor({ spec }: DeviceTaintRule, { driver, pool, device }: DeviceName): boolean {
  const { deviceSelector } = spec;
  if (deviceSelector === undefined) return false;
  return (
    (deviceSelector.driver ?? driver) === driver &&
    (deviceSelector.pool ?? pool) === pool &&
    (deviceSelector.device ?? device) === device
  );
}

/** The taints of a device: its own, then those of rules. */
export function taintsOf(
  { taints = [] }: Device,
  name: DeviceName,
  rules: Iterable<DeviceTaintRule>,
): readonly DeviceTaint[] {
  let all: DeviceTaint[] | undefined;
  for (const rule of rules) {
    if (!isRuleFor(rule, name)) continue;
    all ??= [...taints];
    all.push(rule.spec.taint);
  }
  return all ?? taints;
}

/** Whether a toleration is for a taint. */
export function toleratesTaint(toleration: DeviceToleration, taint: DeviceTaint): boolean {
  const { effect = '', key = '', operator = '', value = '' } = toleration;
  if (effect !== ('' as string) && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  switch (operator as string) {
    case '':
    case 'Equal':
      return value === (taint.value ?? '');
    case 'Exists':
      return true;
    default:
      return false;
  }
}

/**
 * Whether a taint keeps the device from those who do not tolerate it. Taints with an unknown effect, or `None`, keep
 * nobody away.
 */
export function keepsAway(taints: readonly DeviceTaint[], tolerations: readonly DeviceToleration[]): boolean {
  return taints.some(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
      !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
  );
}
