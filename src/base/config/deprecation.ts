/** The announced end of a flag or of a value (specification 9.5, rules 5 and 6). Releases are `major.minor`. */
export interface Deprecation {
  /** The release that announced the end. */
  readonly since: string;
  /** The first release that may be without it. All earlier releases have it. */
  readonly until: string;
  /** What to use instead, or why nobody needs it: `use --new-flag`. */
  readonly advice: string;
}

/**
 * The deprecation notice with its advice: the text after `is deprecated` in warnings, and after `Deprecated` in the
 * help.
 */
export function describeDeprecation({ since, until, advice }: Deprecation): string {
  return `${describeEnd({ since, until })}: ${advice}`;
}

/** The deprecation notice without advice: `since release 0.1, may be missing from release 0.4 on`. */
export function describeEnd({ since, until }: Pick<Deprecation, 'since' | 'until'>): string {
  return `since release ${since}, may be missing from release ${until} on`;
}
