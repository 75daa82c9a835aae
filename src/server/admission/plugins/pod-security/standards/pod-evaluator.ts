import type { VendorNames } from '../../../../../base/machinery/vendor.js';
import type { LevelVersion } from '../policy-version.js';
import { hostStandards } from './host-standards.js';
import { otherStandards } from './other-standards.js';
import { privilegeStandards } from './privilege-standards.js';
import { profileStandards } from './profile-standards.js';
import type { CheckedPod, PodCheck, Standard, Violation } from './standard.js';

/** The published Pod Security Standards, compiled once for each version that is in use. */
export class PodEvaluator {
  private readonly standards: readonly Standard[];
  /** The newest version in which a rule changed; all later versions have its checks. */
  readonly newestMinor: number;
  private readonly checks = new Map<string, readonly PodCheck[]>();

  constructor(names: VendorNames) {
    this.standards = [...hostStandards, ...privilegeStandards, ...profileStandards(names), ...otherStandards].sort(
      (a, b) => (a.level === b.level ? (a.id < b.id ? -1 : 1) : a.level < b.level ? -1 : 1),
    );
    this.newestMinor = Math.max(...this.standards.flatMap(({ versions }) => versions.map(({ since }) => since)));
  }

  /** The violations of the level's rules: those of `baseline` first, and within each level by rule id. */
  evaluate(levelVersion: LevelVersion, pod: CheckedPod): readonly Violation[] {
    return this.checksOf(levelVersion).flatMap((check) => check(pod) ?? []);
  }

  private checksOf({ level, version }: LevelVersion): readonly PodCheck[] {
    if (level === 'privileged') return [];
    const minor = Math.min(version.minor, this.newestMinor);
    const key = `${level}:${minor}`;
    let checks = this.checks.get(key);
    if (checks === undefined) {
      checks = this.compile(level, minor);
      this.checks.set(key, checks);
    }
    return checks;
  }

  private compile(level: 'baseline' | 'restricted', minor: number): PodCheck[] {
    const active = this.standards.flatMap((standard) => {
      if (level === 'baseline' && standard.level === 'restricted') return [];
      const check = standard.versions.findLast(({ since }) => since <= minor)?.check;
      return check === undefined ? [] : { standard, check };
    });
    const overridden = new Set(active.flatMap(({ standard }) => standard.overrides ?? []));
    return active.filter(({ standard }) => !overridden.has(standard.id)).map(({ check }) => check);
  }
}

/** Maximum length of a detail in characters: a pod may have very many containers. */
const maxDetailLength = 4096;

/** `reason (detail), reason (detail)`: all violations in one line. */
export function violationsText(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${shortened(detail)})`).join(', ');
}

function shortened(detail: string): string {
  return detail.length > maxDetailLength ? `${detail.slice(0, maxDetailLength)}...` : detail;
}

/** `reason, reason`: all violations without the containers. */
export function reasonsText(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ');
}
