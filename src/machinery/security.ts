import type { Authorizer, RuleResolver } from './authorizer.js';
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

/** What resources about access need: the configured modules, seen through their interfaces. */
export interface Security {
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  readonly tokens: TokenReviewer;
  /** Undefined when this process has no key to sign with. */
  readonly issuer: ServiceAccountTokenIssuer | undefined;
}

/** For processes that answer no requests: allows nothing and knows nobody. */
export const closedSecurity: Security = Object.freeze({
  authorizer: { authorize: () => ({ decision: 'deny', reason: 'this process answers no requests' }) as const },
  rules: {
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError: 'not available' }),
  },
  tokens: { review: async () => ({ authenticated: false, error: 'not available' }) as const },
  issuer: undefined,
});
