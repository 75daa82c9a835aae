import type { UserInfo } from '../machinery/request-context.js';

/** Who a token stands for, and how long that may be remembered. */
export interface TokenIdentity {
  readonly kind: 'user';
  readonly user: UserInfo;
  /** Those of the asked audiences that the token is good for. */
  readonly audiences: readonly string[];
  /** Milliseconds since the epoch from which on the token is worth nothing; undefined: no end of its own. */
  readonly expiresAt?: number | undefined;
  /** Stored objects whose change makes the answer doubtful, as {@link dependencyOf} names them. */
  readonly dependsOn?: readonly string[] | undefined;
  /** What the audit trail is to say about a use of the token at `now` (milliseconds); also counts the use. */
  readonly noteUse?: ((now: number) => Readonly<Record<string, string>> | undefined) | undefined;
}

/** See `AuthenticationResult`: the same three outcomes for a token alone. */
export type TokenResult =
  | TokenIdentity
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected'; readonly reason: string };

/** The token is none of this method's. */
export const unknownToken: TokenResult = Object.freeze({ kind: 'none' });

/** A token of this method that isn't valid; `reason` may be shown to reviewers and carries no part of the token. */
export function rejectedToken(reason: string): TokenResult {
  return { kind: 'rejected', reason };
}

/** One way to tell whose bearer token it is (specification 5.2). */
export interface TokenAuthenticator {
  /**
   * Never throws for bad tokens; what it throws means that it can't be told right now.
   *
   * @param audiences who the token has to be meant for: any of these; never empty unless this server has none.
   */
  authenticateToken(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<TokenResult> | TokenResult;
}

/** The name of a stored object in {@link TokenIdentity.dependsOn}. */
export function dependencyOf(resource: string, namespace: string, name: string): string {
  return `${resource}/${namespace}/${name}`;
}

/** The entries of `asked` that are in `accepted` too, in the order of `asked`. */
export function intersectAudiences(asked: readonly string[], accepted: readonly string[]): string[] {
  return asked.filter((audience) => accepted.includes(audience));
}

/**
 * Whether a token that names no audience is good for any of the asked ones: such a token is meant for this server.
 * Undefined when it is not.
 */
export function ownAudiences(asked: readonly string[], apiAudiences: readonly string[]): readonly string[] | undefined {
  if (asked === apiAudiences || apiAudiences.length === 0) return asked;
  const common = intersectAudiences(asked, apiAudiences);
  return common.length === 0 ? undefined : common;
}
