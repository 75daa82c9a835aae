import { type FieldError, FieldPath, invalid } from '../../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import {
  compareLevels,
  formatLevelVersion,
  isSameLevelVersion,
  type LevelVersion,
  latest,
  levelProblem,
  parseLevel,
  parseVersion,
  versionProblem,
} from './policy-version.js';

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

const labelsPath = FieldPath.of('metadata', 'labels');

/** Reads the policy of a namespace from its labels. */
export class NamespacePolicies {
  private readonly prefix: string;

  constructor(
    names: VendorNames,
    private readonly defaults: NamespacePolicy,
  ) {
    this.prefix = `pod-security.${names.labelPrefix}/`;
  }

  /**
   * The policy of a namespace with these labels. A mode without a label has the configured default, but the warning
   * level is never below the enforced one. An invalid level counts as the strictest one, except for warnings; an
   * invalid version counts as the latest.
   */
  read(labels: Readonly<Record<string, string>> | undefined): ReadPolicy {
    if (labels === undefined || !Object.keys(labels).some((key) => key.startsWith(this.prefix))) {
      return { policy: this.defaults, errors: [] };
    }
    const errors: FieldError[] = [];
    const enforce = this.readMode('enforce', labels, errors);
    const audit = this.readMode('audit', labels, errors);
    const warn = this.readMode('warn', labels, errors);
    return { policy: { enforce, audit, warn: this.warningAtLeast(enforce, warn, labels) }, errors };
  }

  private readMode(mode: PolicyMode, labels: Readonly<Record<string, string>>, errors: FieldError[]): LevelVersion {
    let { level, version } = this.defaults[mode];
    const levelKey = this.prefix + mode;
    const levelText = labels[levelKey];
    if (levelText !== undefined) {
      const parsed = parseLevel(levelText);
      if (parsed === undefined) errors.push(invalid(labelsPath.key(levelKey), levelText, levelProblem));
      level = parsed ?? (mode === 'warn' ? 'privileged' : 'restricted');
    }
    const versionKey = `${levelKey}-version`;
    const versionText = labels[versionKey];
    if (versionText !== undefined) {
      const parsed = parseVersion(versionText);
      if (parsed === undefined) errors.push(invalid(labelsPath.key(versionKey), versionText, versionProblem));
      version = parsed ?? latest;
    }
    return { level, version };
  }

  private warningAtLeast(
    enforce: LevelVersion,
    warn: LevelVersion,
    labels: Readonly<Record<string, string>>,
  ): LevelVersion {
    const enforced = labels[`${this.prefix}enforce`];
    if (enforced === undefined || parseLevel(enforced) === undefined) return warn;
    if (labels[`${this.prefix}warn`] !== undefined || compareLevels(enforce.level, warn.level) <= 0) return warn;
    const hasVersion = labels[`${this.prefix}warn-version`] !== undefined;
    return { level: enforce.level, version: hasVersion ? warn.version : enforce.version };
  }
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
