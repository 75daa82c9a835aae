/** How much a pod may do: each level forbids everything that the previous level forbids, and more. */
export type Level = 'privileged' | 'baseline' | 'restricted';

export const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];

/** The version of the standards whose checks apply. */
export interface PolicyVersion {
  /** X of `v1.X`; infinite for `latest`. */
  readonly minor: number;
  /** `v1.X` or `latest`. */
  readonly text: string;
}

export const latest: PolicyVersion = { minor: Number.POSITIVE_INFINITY, text: 'latest' };

/** A level of the standards in one version. */
export interface LevelVersion {
  readonly level: Level;
  readonly version: PolicyVersion;
}

export const levelProblem = `must be one of ${levels.join(', ')}`;
export const versionProblem = 'must be "latest" or "v1.x"';

/** The named level; undefined for other names. */
export function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text);
}

/** The named version; undefined for an invalid name. */
export function parseVersion(text: string): PolicyVersion | undefined {
  if (text === 'latest') return latest;
  const minor = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text)?.[1];
  return minor === undefined ? undefined : { minor: Number(minor), text };
}

/** Negative if `a` allows more than `b`. */
export function compareLevels(a: Level, b: Level): number {
  return levels.indexOf(a) - levels.indexOf(b);
}

/** Formats it like `restricted:latest`. */
export function formatLevelVersion({ level, version }: LevelVersion): string {
  return `${level}:${version.text}`;
}

export function isSameLevelVersion(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.version.minor === b.version.minor;
}
