import type { AuditTrail } from '../../base/machinery/audit-trail.js';
import { parseJson } from '../../base/machinery/json/exact-numbers.js';
import type { RequestContext } from '../../base/machinery/request-context.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import { type Answer, type AnswerOptions, answerOf } from './answer-of.js';
import type { AuditInfo, ResponseInfo } from './audit-event.js';
import type { AuditPolicyRule, AuditStage, AuditSubject } from './audit-policy.js';
import { type Hide, hiderFor, withoutManagedFields } from './hidden-values.js';
import { requestIdOf } from './request-id.js';
import { sourceAddresses } from './source-addresses.js';

/** Decides what is recorded of a request, and receives its events. */
export interface RequestAuditor {
  readonly names: VendorNames;
  /** The rule for a request; undefined if nothing of it is recorded. */
  ruleFor(subject: AuditSubject): AuditPolicyRule | undefined;
  /** Passes an event on. If `mustSucceed` and the event was not accepted, throws a 500 or rejects with it. */
  emit(info: AuditInfo, mustSucceed: boolean): Promise<void> | undefined;
}

/** Longer user agents are cut, as upstream does. */
export const maxUserAgentLength = 1024;
/** Longer objects are omitted. Every single object fits; only lists are longer. */
const maxObjectLength = 4 * 1024 * 1024;
/**
 * Longer objects are omitted if they have to be changed (to hide values or remove fields), which is done in one step.
 */
const maxChangedLength = 1536 * 1024;
/** Maximum number of recorded versions of written objects: deleting a collection writes many. */
const maxWritten = 1000;
/** How long to wait for the outcome after the client has left. */
const outcomePatienceMs = 10_000;
/** The code of requests whose client left before a response, as in the metrics. */
const clientLeft = 499;

/** The parts of an HTTP request that are recorded in events. */
export interface AuditedRequest {
  /** The id of the request in its response, if that is known already. */
  readonly id?: string | undefined;
  readonly context: Omit<RequestContext, 'signal' | 'query'> & {
    readonly isLongRunning: boolean;
    readonly isAborted: boolean;
  };
  readonly raw: {
    readonly url?: string | undefined;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    readonly socket?: { readonly remoteAddress?: string | undefined } | null;
  };
  readonly response: {
    statusCode: number;
    headersSent: boolean;
    setHeader(name: string, value: string): unknown;
  };
}

/** The parts of a rule that the thread for large requests needs. */
export type FollowedRule = Pick<AuditPolicyRule, 'level' | 'omitManagedFields'>;

type State = 'arrived' | 'ignored' | 'noted' | 'done';

/** What the thread for large requests has recorded for one request. Secrets in the objects are already hidden. */
export interface TrailPart {
  readonly annotations: readonly (readonly [string, string])[];
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  readonly identity: ObjectIdentity;
  readonly answer: Answer | undefined;
  readonly written: AuditInfo['written'];
  readonly isFault: boolean;
  readonly isLeftOut: boolean;
}

interface ObjectIdentity {
  name: string;
  namespace: string;
  uid: string;
  resourceVersion: string;
}

/**
 * The trail of one request: collects the content of its events, and creates each event at its stage. The state of a
 * request is first *arrived* (no rule chosen yet), then *ignored* (no rule records it) or *noted*, and finally *done*.
 */
export class RequestAudit implements AuditTrail {
  private state: State = 'arrived';
  private rule: AuditPolicyRule | undefined;
  private id = '';
  private sources: readonly string[] | undefined;
  private hide: Hide | undefined;
  private decision: string | undefined;
  private reason = '';
  private requestObject: string | undefined;
  private responseObject: string | undefined;
  private pieces: string[] | undefined;
  private pieceLength = 0;
  private hasAllPieces = false;
  /** Objects were too long, or were not received completely. */
  private isLeftOut = false;
  private identity: ObjectIdentity = { name: '', namespace: '', uid: '', resourceVersion: '' };
  private answer: Answer | undefined;
  private readonly written: bigint[] = [];
  private isIdentified = false;
  /** Whether this thread works for the process that owns the trail, which creates the events. */
  private isPart = false;
  private isStarted = false;
  private isFault = false;
  private isClosed = false;
  private handlers = 0;
  private patience: NodeJS.Timeout | undefined;

  constructor(
    private readonly auditor: RequestAuditor,
    private readonly request: AuditedRequest,
  ) {}

  get wantsRequestObject(): boolean {
    return this.state === 'noted' && this.rule?.level !== 'Metadata';
  }

  get wantsResponseObject(): boolean {
    return this.state === 'noted' && this.rule?.level === 'RequestResponse';
  }

  get omitsManagedFields(): boolean {
    return this.rule?.omitManagedFields ?? false;
  }

  identified(): Promise<void> | undefined {
    this.isIdentified = true;
    if (!this.choose()) return undefined;
    return this.emit('RequestReceived', undefined);
  }

  decided(isAllowed: boolean, reason: string): void {
    this.decision = isAllowed ? 'allow' : 'forbid';
    this.reason = reason;
  }

  entered(): void {
    this.handlers++;
  }

  left(): void {
    this.handlers--;
    if (this.handlers === 0 && this.isClosed) this.abandon();
  }

  requested(object: unknown): void {
    if (this.state !== 'noted') return;
    this.noteIdentity(object);
    if (!this.wantsRequestObject) return;
    const { verb } = this.request.context.requestInfo;
    const isOptions = verb === 'delete' || verb === 'deletecollection';
    this.requestObject = this.finished(JSON.stringify(object), isOptions ? undefined : this.hide);
  }

  answered(code: number, value: unknown): void {
    this.noteAnswer(code, value);
    this.pieces = undefined;
    if (this.wantsResponseObject) this.responseObject = this.finished(JSON.stringify(value), this.hide);
  }

  answeredText(code: number, json: string): void {
    const hasNewName = code === 201 && this.identity.name === '' && this.request.context.requestInfo.name === '';
    this.noteAnswer(code, hasNewName ? parseJson(json) : undefined);
    if (this.wantsResponseObject) this.responseObject = this.finished(json, this.hide);
  }

  answeredPiece(code: number, json: string): void {
    if (this.answer === undefined) this.noteAnswer(code, undefined);
    if (!this.wantsResponseObject || this.isLeftOut) return;
    this.pieces ??= [];
    this.pieceLength += json.length;
    if (this.pieceLength <= maxObjectLength) this.pieces.push(json);
    else {
      this.isLeftOut = true;
      this.pieces = undefined;
    }
  }

  answeredAll(): void {
    this.hasAllPieces = true;
  }

  failed(): void {
    this.isFault = true;
  }

  wrote(resourceVersion: bigint | undefined): void {
    if (resourceVersion !== undefined && this.written.length < maxWritten) this.written.push(resourceVersion);
  }

  /** Called before the response head of a long-running request is sent, or before another protocol begins (101). */
  started(code: number): void {
    if (this.isStarted || this.state !== 'noted') return;
    this.isStarted = true;
    void this.emit('ResponseStarted', this.responseInfo(code));
  }

  /** Called after a switch to another protocol; the request ends with its connection. */
  upgraded(): void {
    this.answer = answerOf(101, undefined, this.answerOptions());
    this.started(101);
  }

  /**
   * Called before the complete response is sent. Returns a promise if the response has to wait until the event is
   * recorded.
   */
  ended(): Promise<void> | undefined {
    if (this.isPart || this.state === 'done') return undefined;
    if (this.state === 'arrived') this.choose();
    if (this.state !== 'noted') return undefined;
    const { statusCode } = this.request.response;
    if (this.isIdentified) return this.complete(this.responseInfo(statusCode));
    return this.endedEarly(statusCode);
  }

  /** Called when the connection (or stream) is closed, whether the response was complete or not. */
  closed(): void {
    this.isClosed = true;
    if (this.isPart || this.state === 'done' || this.state === 'ignored') return;
    if (this.handlers === 0) this.abandon();
    // A handler is still running; its outcome belongs in the trail.
    else this.patience = setTimeout(() => this.abandon(), outcomePatienceMs).unref();
  }

  /** What this thread has recorded so far, for the process that owns the trail. */
  part(): TrailPart {
    const { requestObject, identity, answer, written, isFault } = this;
    const annotations = [...this.request.context.auditAnnotations];
    const responseObject = this.wholeResponse();
    const { isLeftOut } = this;
    return { annotations, requestObject, responseObject, identity, answer, written, isFault, isLeftOut };
  }

  /** Adds what another thread has recorded. */
  join(part: TrailPart): void {
    if (this.state !== 'noted') return;
    for (const [key, value] of part.annotations) this.request.context.auditAnnotations.set(key, value);
    this.requestObject = part.requestObject ?? this.requestObject;
    this.responseObject = part.responseObject ?? this.responseObject;
    this.identity = part.identity;
    this.answer = part.answer ?? this.answer;
    this.written.push(...part.written);
    this.isFault ||= part.isFault;
    this.isLeftOut ||= part.isLeftOut;
  }

  /** Adopts the rule that the process has chosen; this thread emits no events. */
  follow(rule: FollowedRule): void {
    this.isPart = true;
    this.rule = { ...emptyRule, ...rule };
    this.state = 'noted';
    this.hide = hiderFor(this.request.context.requestInfo, this.auditor.names);
  }

  /** The chosen rule, in a form that can be sent to a thread; undefined if there is none. */
  get followed(): FollowedRule | undefined {
    if (this.state !== 'noted' || this.rule === undefined) return undefined;
    const { level, omitManagedFields } = this.rule;
    return { level, omitManagedFields };
  }

  /** Chooses the rule for the request; returns false if the request is not recorded. */
  private choose(): boolean {
    const { context, raw, response } = this.request;
    this.rule = this.auditor.ruleFor({ user: context.user, requestInfo: context.requestInfo });
    this.state = this.rule === undefined ? 'ignored' : 'noted';
    this.id = this.request.id ?? requestIdOf(raw.headers);
    if (this.request.id === undefined && !response.headersSent) response.setHeader('Audit-Id', this.id);
    if (this.rule === undefined) return false;
    this.hide = hiderFor(context.requestInfo, this.auditor.names);
    return true;
  }

  /**
   * Called for the response to a request whose sender is not known. A failed authentication is recorded at the same
   * stage as upstream.
   */
  private endedEarly(code: number): Promise<void> | undefined {
    const info = this.responseInfo(code);
    const isLogin = code === 401 && !this.rule?.omitStages.has('ResponseStarted');
    if (!isLogin) return this.complete(info);
    const noted = this.emit('ResponseStarted', info);
    this.state = 'done';
    return noted;
  }

  private abandon(): void {
    clearTimeout(this.patience);
    if (this.state === 'arrived' && !this.choose()) return;
    if (this.state !== 'noted') return;
    const { headersSent, statusCode } = this.request.response;
    const code = this.answer?.code ?? (headersSent ? statusCode : clientLeft);
    void this.complete(this.responseInfo(code));
  }

  private complete(response: ResponseInfo): Promise<void> | undefined {
    clearTimeout(this.patience);
    const { context } = this.request;
    if (context.isLongRunning) this.started(response.code);
    const stage = this.isFault ? 'Panic' : 'ResponseComplete';
    const noted = this.emit(stage, response);
    this.state = 'done';
    this.requestObject = undefined;
    this.responseObject = undefined;
    this.pieces = undefined;
    return noted;
  }

  private responseInfo(code: number): ResponseInfo {
    const { status = '', reason = '', message = '', details = '' } = this.answer ?? {};
    // An upgraded connection or a started watch normally ends when its connection closes.
    const isBroken = this.isClosed && code !== 101 && !(this.request.context.isLongRunning && this.isStarted);
    const how = this.request.context.isAborted
      ? 'the server cut its answer before it was complete'
      : 'the client left before its answer was complete';
    if (!isBroken) return { code, status, reason, message, details };
    return { code, status: status === '' ? 'Failure' : status, reason, message: how, details };
  }

  private emit(stage: AuditStage, response: ResponseInfo | undefined): Promise<void> | undefined {
    const { rule, identity } = this;
    if (rule === undefined || rule.omitStages.has(stage)) return undefined;
    const { context, raw } = this.request;
    const { requestInfo, user, impersonator, userAgent, receivedAt } = context;
    this.sources ??= sourceAddresses(raw.headers, raw.socket?.remoteAddress);
    const hasAnswer = stage === 'ResponseComplete' || stage === 'Panic' || response?.code === 401;
    return this.auditor.emit(
      {
        level: rule.level,
        stage,
        auditID: this.id,
        requestURI: raw.url ?? '',
        user: impersonator ?? user,
        impersonatedUser: impersonator === undefined ? undefined : user,
        impersonationConstraint: context.impersonationConstraint,
        sourceIPs: this.sources,
        userAgent:
          userAgent.length > maxUserAgentLength ? `${userAgent.slice(0, maxUserAgentLength)}...TRUNCATED` : userAgent,
        requestInfo,
        name: requestInfo.name || identity.name,
        namespace: requestInfo.namespace || identity.namespace,
        uid: identity.uid,
        resourceVersion: identity.resourceVersion,
        response,
        requestObject: this.requestObject,
        responseObject: hasAnswer ? this.wholeResponse() : undefined,
        receivedAt,
        at: Date.now(),
        annotations: this.annotations(),
        written: this.written,
      },
      stage === 'RequestReceived',
    );
  }

  private annotations(): readonly (readonly [string, string])[] {
    const { suffix } = this.auditor.names;
    const all: (readonly [string, string])[] = [];
    if (this.decision !== undefined) {
      all.push([`authorization.${suffix}/decision`, this.decision], [`authorization.${suffix}/reason`, this.reason]);
    }
    const showsPatches = this.wantsRequestObject && this.hide === undefined;
    for (const entry of this.request.context.auditAnnotations) {
      if (showsPatches || !entry[0].startsWith('patch.webhook.')) all.push(entry);
    }
    if (this.isLeftOut) all.push([`audit.${suffix}/truncated`, 'true']);
    return all;
  }

  private noteAnswer(code: number, value: unknown): void {
    // The rule must be chosen before the response head is built, which happens next.
    if (this.state === 'arrived') this.choose();
    this.answer = answerOf(code, value, this.answerOptions());
    // A generated name is known only from the response.
    if (this.answer.status === '' && this.identity.name === '' && this.request.context.requestInfo.verb === 'create') {
      this.identity.name = nameOf(value);
    }
  }

  private answerOptions(): AnswerOptions {
    const { hide, decision } = this;
    return { showsValues: this.wantsRequestObject, hide, isForbidden: decision === 'forbid' };
  }

  private noteIdentity(object: unknown): void {
    const { metadata } = (object ?? {}) as { metadata?: unknown };
    if (typeof metadata !== 'object' || metadata === null) return;
    const { name, namespace, uid, resourceVersion } = metadata as Readonly<Record<string, unknown>>;
    this.identity = {
      name: textOf(name),
      namespace: textOf(namespace),
      uid: textOf(uid),
      resourceVersion: textOf(resourceVersion),
    };
  }

  /** The JSON to record; undefined when it is too long. */
  private finished(json: string | undefined, hide: Hide | undefined): string | undefined {
    if (json === undefined) return undefined;
    const isChanged = hide !== undefined || this.omitsManagedFields;
    if (json.length > (isChanged ? maxChangedLength : maxObjectLength)) {
      this.isLeftOut = true;
      return undefined;
    }
    if (!isChanged) return json;
    let value = parseJson(json);
    if (this.omitsManagedFields) value = withoutManagedFields(value);
    return JSON.stringify(hide === undefined ? value : hide(value));
  }

  private wholeResponse(): string | undefined {
    const { pieces } = this;
    if (pieces === undefined) return this.responseObject;
    this.pieces = undefined;
    // Incomplete JSON could not be parsed by readers of the event.
    if (this.hasAllPieces) this.responseObject = this.finished(pieces.join(''), this.hide);
    else this.isLeftOut = true;
    return this.responseObject;
  }
}

const emptyRule: AuditPolicyRule = {
  level: 'Metadata',
  users: [],
  userGroups: [],
  verbs: [],
  resources: [],
  namespaces: [],
  nonResourceURLs: [],
  omitStages: new Set(),
  omitManagedFields: false,
};

function nameOf(value: unknown): string {
  const { metadata } = (value ?? {}) as { metadata?: { name?: unknown } | null };
  return textOf(metadata?.name);
}

/** Names are never longer than this limit; a longer string sent as a name does not identify an object. */
function textOf(value: unknown): string {
  return typeof value === 'string' && value.length <= 512 ? value : '';
}
