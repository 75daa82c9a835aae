import type { UserInfo } from './request-context.js';

/** The user of a bearer token. `audiences` are the requested audiences that the token is valid for. */
export type TokenReviewResult =
  | { readonly authenticated: true; readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly authenticated: false; readonly error: string };

/** Checks bearer tokens with all configured token methods. */
export interface TokenReviewer {
  /** `audiences` are the accepted audiences; if empty, those of this server. Never throws for bad tokens. */
  review(token: string, audiences: readonly string[], signal: AbortSignal): Promise<TokenReviewResult>;
}

/** Injection token of the {@link TokenReviewer}. */
export const TOKEN_REVIEWER = Symbol('TokenReviewer');

/** Accepts no token: the reviewer of processes that serve no requests. */
export const closedTokens: TokenReviewer = Object.freeze({
  review: async () => ({ authenticated: false, error: 'not available' }) as const,
});

/** The object that a service account token is bound to: the token becomes invalid when the object is deleted. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
}

/** The content of a requested service account token. */
export interface ServiceAccountTokenRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The requested audiences; if empty, those of this server. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: BoundObject | undefined;
  /** The node of the bound pod, if it has one. */
  readonly node?: { readonly name: string; readonly uid: string } | undefined;
}

/** Signs tokens for service accounts. */
export interface ServiceAccountTokenIssuer {
  readonly audiences: readonly string[];
  /** Longer requested lifetimes are shortened to this; undefined: no limit. */
  readonly maxExpirationSeconds?: number | undefined;
  issue(request: ServiceAccountTokenRequest): Promise<IssuedToken>;
}

/** A signed token. */
export interface IssuedToken {
  readonly token: string;
  /** The `jti` of the token: requests with it are recorded under this id. */
  readonly id: string;
  readonly expiresAt: Date;
}

/** Injection token of the {@link ServiceAccountTokenIssuer}; undefined if this process has no signing key. */
export const TOKEN_ISSUER = Symbol('ServiceAccountTokenIssuer');
