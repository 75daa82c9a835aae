import type { FieldError } from '../../../../base/machinery/field-error.js';
import { compareLevels, formatLevelVersion, isSameLevelVersion, type LevelVersion } from './policy-version.js';

const modes = ['enforce', 'audit', 'warn'] as const;

/**
 * What happens to pods that violate the rules: they are refused, recorded in the audit trail, or their sender is
 * warned.
 */
export type PolicyMode = (typeof modes)[number];

/** The rules for the pods of a namespace. */
export type NamespacePolicy = Readonly<Record<PolicyMode, LevelVersion>>;

/** A policy, and the problems of the labels that it was read from. */
export interface ReadPolicy {
  readonly policy: NamespacePolicy;
  readonly errors: readonly FieldError[];
}

/** Whether nothing is refused, audited or warned about. */
export function isFullyPrivileged(policy: NamespacePolicy): boolean {
  return modes.every((mode) => policy[mode].level === 'privileged');
}

/** `enforce=baseline:latest, warn=restricted:v1.30`: the modes that differ from `privileged`. */
export function policyText(policy: NamespacePolicy): string {
  return modes
    .filter((mode) => policy[mode].level !== 'privileged')
    .map((mode) => `${mode}=${formatLevelVersion(policy[mode])}`)
    .join(', ');
}

/** Whether pods that the old policy admitted may violate the enforced rules of the new one. */
export function enforcesMore({ enforce }: NamespacePolicy, { enforce: old }: NamespacePolicy): boolean {
  if (enforce.level === 'privileged' || isSameLevelVersion(enforce, old)) return false;
  return enforce.version.minor !== old.version.minor || compareLevels(enforce.level, old.level) > 0;
}
