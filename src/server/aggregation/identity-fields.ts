/** The header fields in which extension servers may expect the user of a request, most preferred first. */
export interface IdentityNames {
  readonly users: readonly string[];
  readonly uids: readonly string[];
  readonly groups: readonly string[];
  /** Prefixes of the names of extra fields. */
  readonly extraPrefixes: readonly string[];
}

/** The fields that name a user to extension servers. */
export interface IdentityFields {
  /** The names that this server writes, in lower case. */
  readonly user: string;
  readonly uid: string;
  readonly group: string;
  readonly extraPrefix: string;
  /**
   * The names that clients must not send: those above, and all others that extension servers may trust. In lower case,
   * with `-` for `_`.
   */
  readonly names: ReadonlySet<string>;
  readonly prefixes: readonly string[];
}

const usual = {
  user: 'x-remote-user',
  uid: 'x-remote-uid',
  group: 'x-remote-group',
  extra: 'x-remote-extra-',
} as const;

/** Only the usual names. */
export const noNames: IdentityNames = Object.freeze({ users: [], uids: [], groups: [], extraPrefixes: [] });

/**
 * The fields for servers configured with these names. The usual name is used if it is among them, or if there are none.
 */
export function identityFields({ users, uids, groups, extraPrefixes }: IdentityNames): IdentityFields {
  return {
    user: chosen(users, usual.user),
    uid: chosen(uids, usual.uid),
    group: chosen(groups, usual.group),
    extraPrefix: chosen(extraPrefixes, usual.extra),
    names: new Set([...users, ...uids, ...groups].map(spelled)),
    prefixes: extraPrefixes.map(spelled).filter((prefix) => prefix !== ''),
  };
}

/** The names of `a`, followed by those of `b`. */
export function joinedNames(a: IdentityNames, b: IdentityNames): IdentityNames {
  return {
    users: [...a.users, ...b.users],
    uids: [...a.uids, ...b.uids],
    groups: [...a.groups, ...b.groups],
    extraPrefixes: [...a.extraPrefixes, ...b.extraPrefixes],
  };
}

/** Normalizes a name for comparison: some servers treat `_` as `-`. */
export function spelled(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

function chosen(names: readonly string[], usually: string): string {
  const known = names.map((name) => name.toLowerCase()).filter((name) => name !== '');
  return known.includes(usually) ? usually : (known[0] ?? usually);
}
