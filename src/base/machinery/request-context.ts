import type { AuditTrail } from './audit-trail.js';

/** The sender of a request, as identified by an authenticator (specification 5.1). */
export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** API verbs; non-resource requests use the lowercase HTTP method instead. */
export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'proxy'
  | (string & {});

/** The target of a path and method (specification 4.1). Parsed once and never changed. */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly verb: Verb;
  readonly apiPrefix: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Selectors of a list, a watch or a deletecollection, as sent; authorization may depend on them. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Path segments after the group version (and namespace). */
  readonly parts: readonly string[];
  /** The path names the verb, as in `/api/v1/watch/pods`. */
  readonly isVerbInPath?: boolean;
}

/**
 * The state of one request, created on arrival and passed as the first argument down to the registry. Requests share
 * none of it.
 */
export interface RequestContext {
  readonly requestInfo: RequestInfo;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  /** Arrival time of the request, in milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Aborted when the client leaves or the request times out. */
  readonly signal: AbortSignal;
  /** Set by the authentication guard; unset before. */
  user: UserInfo | undefined;
  /** The sender of the request, if it continues as another user by impersonation. */
  impersonator?: UserInfo | undefined;
  /** The verb of constrained impersonation that limits what the sender may do as that user, if one applies. */
  impersonationConstraint?: string | undefined;
  /** Whether the request may still continue in the thread for large requests: see `large-work.ts`. */
  mayChangeThread?: boolean;
  /**
   * Whether each character of the response takes time to write, and not only each value, because the response is YAML.
   */
  isCostly?: boolean;
  /**
   * Milliseconds that the request spent waiting for webhooks and in queues, which do not count as the server's own
   * time.
   */
  waitedMs?: number;
  /**
   * Waits until the request may work with a stored object of this many characters; undefined if it may do so now. Must
   * be called before the work, and before the request moves to another thread.
   *
   * @throws a 429 when too many requests of the tenant wait
   */
  makeRoom?(characters: number): Promise<void> | undefined;
  /**
   * Called when the request begins to wait for a server outside; {@link endRemoteCall} must follow. Calls may overlap. See
   * `remote-call.ts`.
   */
  beginRemoteCall?(): void;
  endRemoteCall?(): void;
  /** Records that a phase of the request has ended, for finding slow phases. */
  mark?(phase: string): void;
  /** Decides whether to trace the request if its client asked for a trace; called once the user is known. */
  decideTrace?(): void;
  /** Texts of `Warning` headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Annotations for the audit trail. */
  readonly auditAnnotations: Map<string, string>;
  /** Set while an audit policy is in force. */
  audit?: AuditTrail | undefined;
}

/** Records time that the request spent waiting since `begin`, a time of `performance.now()`. */
export function noteWait(context: Pick<RequestContext, 'waitedMs'>, begin: number): void {
  context.waitedMs = (context.waitedMs ?? 0) + performance.now() - begin;
}

/** Once all warnings of a response have more characters than this, each is cut: clients refuse long headers. */
const maxWarningsLength = 4096;
/** The length to which each warning is then cut. */
const cutWarningLength = 256;
/** The most warnings of a response. Each is a header, and some clients refuse responses with a hundred of them. */
export const maxWarnings = 64;

/**
 * Adds a warning for the client unless it exists already. When all warnings no longer fit, the long ones are cut, and
 * warnings beyond the limits are omitted. Returns false once no further warning can be added.
 */
export function addWarning({ warnings }: Pick<RequestContext, 'warnings'>, text: string): boolean {
  if (warnings.length >= maxWarnings) return false;
  if (warnings.includes(text)) return true;
  const length = warnings.reduce((sum, warning) => sum + warning.length, 0);
  if (length + text.length <= maxWarningsLength) {
    warnings.push(text);
    return true;
  }
  if (length >= maxWarningsLength && warnings.every((warning) => warning.length <= cutWarningLength)) return false;
  const cut = new Set([...warnings, text].map((warning) => cutText(warning, cutWarningLength)));
  warnings.splice(0, warnings.length, ...cut);
  return true;
}

/** The beginning of a string, never ending with half a character. */
function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
