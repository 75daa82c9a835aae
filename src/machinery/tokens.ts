import type { UserInfo } from './request-context.js';

/** Whom a bearer token stands for. `audiences`: those of the asked ones that the token is good for. */
export type TokenReviewResult =
  | { readonly authenticated: true; readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly authenticated: false; readonly error: string };

/** Answers what a bearer token is worth, by all configured methods for tokens. */
export interface TokenReviewer {
  /** `audiences`: accepted ones; empty: those of this server. Never throws for bad tokens. */
  review(token: string, audiences: readonly string[], signal: AbortSignal): Promise<TokenReviewResult>;
}

/** Injection token of the {@link TokenReviewer}. */
export const TOKEN_REVIEWER = Symbol('TokenReviewer');

/** For processes that answer no requests: knows nobody. */
export const closedTokens: TokenReviewer = Object.freeze({
  review: async () => ({ authenticated: false, error: 'not available' }) as const,
});

/** The object a service account token dies with. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
}

/** What a token for a service account is to say. */
export interface ServiceAccountTokenRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Empty: the audiences of this server. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: BoundObject | undefined;
  /** Node of the bound pod, when it has one. */
  readonly node?: { readonly name: string; readonly uid: string } | undefined;
}

/** Signs tokens for service accounts. */
export interface ServiceAccountTokenIssuer {
  readonly audiences: readonly string[];
  /** Requests for a longer time get this one; undefined: no limit. */
  readonly maxExpirationSeconds?: number | undefined;
  issue(request: ServiceAccountTokenRequest): Promise<{ readonly token: string; readonly expiresAt: Date }>;
}

/** Injection token of the {@link ServiceAccountTokenIssuer}; undefined where this process has no key to sign with. */
export const TOKEN_ISSUER = Symbol('ServiceAccountTokenIssuer');
