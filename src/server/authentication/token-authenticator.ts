import type { UserInfo } from '../../base/machinery/request-context.js';

/** The user that a token belongs to, and how long that may be cached. */
export interface TokenIdentity {
  readonly kind: 'user';
  readonly user: UserInfo;
  /** The requested audiences that the token is valid for. */
  readonly audiences: readonly string[];
  /**
   * The time at which the token expires, in milliseconds since the epoch; undefined when it has no expiry of its own.
   */
  readonly expiresAt?: number | undefined;
  /** Stored objects whose change invalidates the result, as named by {@link dependencyOf}. */
  readonly dependsOn?: readonly string[] | undefined;
  /** A warning that the client receives whenever it uses the token. */
  readonly warning?: string | undefined;
  /** Returns the audit annotations for a use of the token at `now` (milliseconds), and counts the use. */
  readonly noteUse?: ((now: number) => Readonly<Record<string, string>> | undefined) | undefined;
}

/** The three outcomes of `AuthenticationResult`, for a token alone. */
export type TokenResult =
  | TokenIdentity
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected'; readonly reason: string };

/** The result for a token that does not belong to this method. */
export const unknownToken: TokenResult = Object.freeze({ kind: 'none' });

/**
 * The result for an invalid token of this method. `reason` may be shown in token reviews and contains no part of the
 * token.
 */
export function rejectedToken(reason: string): TokenResult {
  return { kind: 'rejected', reason };
}

/** A method that checks bearer tokens (specification 5.2). */
export interface TokenAuthenticator {
  /**
   * Never throws for bad tokens. An error means that the token can't be checked right now.
   *
   * @param audiences accepted audiences, of which the token needs at least one. Empty only if this server has none.
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
 * The audiences that a token without audiences is valid for: it is meant for this server. Undefined when none of the
 * requested audiences is this server's. A server without audiences accepts all.
 */
export function ownAudiences(asked: readonly string[], apiAudiences: readonly string[]): readonly string[] | undefined {
  if (asked === apiAudiences || apiAudiences.length === 0) return asked;
  const common = intersectAudiences(asked, apiAudiences);
  return common.length === 0 ? undefined : common;
}
