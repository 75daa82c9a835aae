import { type FieldError, type FieldPath, invalid, required } from '../../../../base/machinery/field-error.js';
import type { SELinuxOptions } from '../../../../objects/apis/core/v1/security-context.types.js';
import type { SELinuxStrategyOptions } from '../../../../objects/apis/policy/v1beta1/pod-security-policy.types.js';

interface IdStrategy {
  readonly rule?: string;
  readonly ranges?: readonly { readonly min: number; readonly max: number }[];
}

/** Checks users or groups against a strategy; `MustRunAs` requires at least one. */
export function checkIds(
  ids: readonly number[],
  { rule, ranges = [] }: IdStrategy,
  path: FieldPath,
  what: 'user' | 'group',
  errors: FieldError[],
): void {
  if (rule !== 'MustRunAs' && rule !== 'MayRunAs') return;
  const list = ranges.map(({ min, max }) => `{${min} ${max}}`).join(' ');
  if (ids.length === 0 && rule === 'MustRunAs') errors.push(required(path, `must be in the ranges: [${list}]`));
  for (const id of ids) {
    if (ranges.some(({ min, max }) => id >= min && id <= max)) continue;
    const detail = what === 'group' ? `group ${id} must be in the ranges` : 'must be in the ranges';
    errors.push(invalid(path, id, `${detail}: [${list}]`));
  }
}

/** Checks an SELinux label. A missing label is an error: the policy's label should have been set before. */
export function checkSeLinux(
  options: SELinuxOptions | undefined,
  { rule, seLinuxOptions = {} }: SELinuxStrategyOptions,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (rule !== 'MustRunAs') return;
  if (options === undefined) {
    errors.push(required(path));
    return;
  }
  const categories = (level = '') => level.split(':').map((part) => part.split(',').sort().join(','));
  for (const field of ['level', 'role', 'type', 'user'] as const) {
    const [is, wanted] = [options[field] ?? '', seLinuxOptions[field] ?? ''];
    const isSame = field === 'level' ? categories(is).join(':') === categories(wanted).join(':') : is === wanted;
    if (!isSame) errors.push(invalid(path.child(field), is, `must be ${wanted}`));
  }
}
