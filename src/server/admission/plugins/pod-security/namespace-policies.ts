import { type FieldError, FieldPath, invalid } from '../../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { NamespacePolicy, PolicyMode, ReadPolicy } from './namespace-policy.js';
import {
  compareLevels,
  type LevelVersion,
  latest,
  levelProblem,
  parseLevel,
  parseVersion,
  versionProblem,
} from './policy-version.js';

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
