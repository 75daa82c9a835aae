import type { TLSSocket } from 'node:tls';
import type { UserInfo } from '../../base/machinery/request-context.js';
import type { RequestHead } from './header-fields.js';

/** The parts of a request that authenticators read. */
export interface AuthenticationRequest {
  /** The Authorization header, as sent. */
  readonly authorization: string | undefined;
  readonly socket: TLSSocket;
  /** Aborted when the request is over. */
  readonly signal: AbortSignal;
  /** The whole request head. A method removes the fields that only it may read. */
  readonly head: RequestHead;
}

/**
 * - `user`: the credentials are valid and belong to this user.
 * - `none`: there are no credentials for this method; the next one may try.
 * - `rejected`: the credentials are for this method but not valid. Other methods may still accept them.
 */
export type AuthenticationResult =
  | {
      readonly kind: 'user';
      readonly user: UserInfo;
      /** Annotations for the audit event of the request. */
      readonly annotations?: Readonly<Record<string, string>> | undefined;
      /** A warning that the client receives with the response. */
      readonly warning?: string | undefined;
    }
  | { readonly kind: 'none' }
  | {
      readonly kind: 'rejected';
      /** Why the credentials are rejected; never contains any part of them. */
      readonly reason: string;
      /** Whether a new connection might be accepted. */
      readonly reconnect?: boolean | undefined;
    };

export const noCredentials: AuthenticationResult = Object.freeze({ kind: 'none' });

/** Injection token of the {@link Authenticator} made of all configured methods. */
export const AUTHENTICATOR = Symbol('Authenticator');

/** One authentication method (specification 5.2). Never throws for bad credentials. */
export interface Authenticator {
  authenticate(request: AuthenticationRequest): Promise<AuthenticationResult> | AuthenticationResult;
}
