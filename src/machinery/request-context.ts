/** Who sent a request, as an authenticator found out (specification 5.1). */
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

/** What a path and method ask for (specification 4.1), parsed once and never changed. */
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
  /** Path segments behind the group version (and namespace). */
  readonly parts: readonly string[];
}

/**
 * State of one request, made when it arrives and passed as the first argument down to the registry. Nothing in it is
 * shared between requests.
 */
export interface RequestContext {
  readonly requestInfo: RequestInfo;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  /** Milliseconds since the epoch when the request arrived. */
  readonly receivedAt: number;
  /** Aborted when the client goes away or the request times out. */
  readonly signal: AbortSignal;
  /** Set by the authentication guard; before that the request has no user. */
  user: UserInfo | undefined;
  /** Who sent the request, when that is somebody else than `user`: set when it goes on as an impersonated user. */
  impersonator?: UserInfo | undefined;
  /** Set while the request may still be given up here and be done by another thread: see `large/large-work.ts`. */
  canLeave?: boolean;
  /** Each character of the answer takes time to write, and not only each value: it is YAML. */
  isCostly?: boolean;
  /** Texts for `Warning` headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Annotations for the audit trail. */
  readonly auditAnnotations: Map<string, string>;
}

/** How many characters all warnings of an answer may have: clients refuse headers that are too long. */
const maxWarningsLength = 4096;
/** What is shown of a warning that would not fit whole. */
const cutWarningLength = 256;

/**
 * Adds a warning for the client unless it is there already. One that does not fit behind the others is cut, or left out
 * when even its beginning has no room.
 */
export function addWarning({ warnings }: Pick<RequestContext, 'warnings'>, text: string): void {
  if (warnings.includes(text)) return;
  const room = warnings.reduce((left, warning) => left - warning.length, maxWarningsLength);
  const shown = text.length <= room ? text : text.slice(0, cutWarningLength);
  if (shown.length <= room && !warnings.includes(shown)) warnings.push(shown);
}
