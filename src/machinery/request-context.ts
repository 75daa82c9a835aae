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

/** What a path and method ask for (specification 4.1). Parsed once and never changed. */
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
  /** Path segments after the group version (and namespace). */
  readonly parts: readonly string[];
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
  /** Set while the request can still move to another thread: see `large/large-work.ts`. */
  canLeave?: boolean;
  /** Each character of the answer takes time to write, not only each value, because it is YAML. */
  isCostly?: boolean;
  /** Texts of `Warning` headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Annotations for the audit trail. */
  readonly auditAnnotations: Map<string, string>;
}

/** The most characters of all warnings in an answer: clients refuse long headers. */
const maxWarningsLength = 4096;
/** The length to which a warning is cut if it does not fit. */
const cutWarningLength = 256;

/**
 * Adds a warning for the client unless it exists already. A warning that no longer fits is cut, or omitted if even its
 * beginning does not fit.
 */
export function addWarning({ warnings }: Pick<RequestContext, 'warnings'>, text: string): void {
  if (warnings.includes(text)) return;
  const room = warnings.reduce((left, warning) => left - warning.length, maxWarningsLength);
  const shown = text.length <= room ? text : text.slice(0, cutWarningLength);
  if (shown.length <= room && !warnings.includes(shown)) warnings.push(shown);
}
