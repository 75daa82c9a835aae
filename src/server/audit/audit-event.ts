import type { RequestInfo, UserInfo } from '../../base/machinery/request-context.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { AuditLevel, AuditStage } from './audit-policy.js';

/** The content of an event, before it is serialized. Texts of clients are kept as they were sent. */
export interface AuditInfo {
  readonly level: AuditLevel;
  readonly stage: AuditStage;
  readonly auditID: string;
  readonly requestURI: string;
  /** Unset when the sender could not be authenticated. */
  readonly user: UserInfo | undefined;
  readonly impersonatedUser: UserInfo | undefined;
  /** The verb that limited the impersonation. */
  readonly impersonationConstraint?: string | undefined;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly requestInfo: RequestInfo;
  /** Name and namespace come from the object where the path does not contain them. */
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly response: ResponseInfo | undefined;
  /** JSON of the object; undefined if it is not recorded. */
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly at: number;
  readonly annotations: readonly (readonly [string, string])[];
  /** Resource versions that the request wrote; only for the database. */
  readonly written: readonly bigint[];
}

/** The outcome of a request. */
export interface ResponseInfo {
  readonly code: number;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** JSON; empty when there are none. */
  readonly details: string;
}

/**
 * One event of kind `Event`. Its JSON is made once, for all backends; it contains no line breaks, so an event is one
 * line of a file whatever clients send.
 */
export class AuditEvent {
  private readonly head: string;
  private readonly objects: string;
  private readonly tail: string;

  constructor(
    readonly info: AuditInfo,
    private readonly names: VendorNames,
    private readonly isTruncated = false,
  ) {
    this.head = headOf(info);
    this.objects = isTruncated ? '' : objectsOf(info);
    this.tail = tailOf(info, isTruncated ? names : undefined);
  }

  /** Length of {@link item} in characters; UTF-8 may take up to three times as many bytes. */
  get length(): number {
    return this.head.length + this.objects.length + this.tail.length;
  }

  /** Whether a backend with a size limit can remove something. */
  get hasObjects(): boolean {
    return this.objects !== '';
  }

  /** The event as a document of its own. */
  get document(): string {
    return `{"kind":"Event","apiVersion":"audit.${this.names.suffix}/v1",${this.head}${this.objects}${this.tail}}`;
  }

  /** The event as an item of an `EventList`. */
  get item(): string {
    return `{${this.head}${this.objects}${this.tail}}`;
  }

  /** A copy of the event without its objects; an annotation marks the omission. */
  truncated(): AuditEvent {
    return this.isTruncated ? this : new AuditEvent(this.info, this.names, true);
  }
}

function headOf(info: AuditInfo): string {
  const { level, auditID, stage, requestURI, requestInfo, user, impersonatedUser, sourceIPs, userAgent, response } =
    info;
  let text =
    `"level":"${level}","auditID":${quoted(auditID)},"stage":"${stage}","requestURI":${quoted(requestURI)}` +
    `,"verb":${quoted(requestInfo.verb)},"user":${userText(user)}`;
  if (impersonatedUser !== undefined) text += `,"impersonatedUser":${userText(impersonatedUser)}`;
  if (info.impersonationConstraint !== undefined) {
    text += `,"authenticationMetadata":{"impersonationConstraint":${quoted(info.impersonationConstraint)}}`;
  }
  if (sourceIPs.length > 0) text += `,"sourceIPs":["${sourceIPs.join('","')}"]`;
  if (userAgent !== '') text += `,"userAgent":${quoted(userAgent)}`;
  if (requestInfo.isResourceRequest) text += `,"objectRef":${referenceText(info)}`;
  if (response !== undefined) text += `,"responseStatus":${responseText(response)}`;
  return text;
}

function objectsOf({ requestObject, responseObject }: AuditInfo): string {
  const request = requestObject === undefined ? '' : `,"requestObject":${requestObject}`;
  return responseObject === undefined ? request : `${request},"responseObject":${responseObject}`;
}

function tailOf({ receivedAt, at, annotations }: AuditInfo, truncatedBy: VendorNames | undefined): string {
  const times = `,"requestReceivedTimestamp":"${microTime(receivedAt)}","stageTimestamp":"${microTime(at)}"`;
  const entries = annotations.map(([key, value]) => `${quoted(key)}:${quoted(value)}`);
  if (truncatedBy !== undefined) entries.push(`"audit.${truncatedBy.suffix}/truncated":"true"`);
  return entries.length === 0 ? times : `${times},"annotations":{${entries.join(',')}}`;
}

/** Cached because the same user object serves many requests. */
const userTexts = new WeakMap<UserInfo, string>();

function userText(user: UserInfo | undefined): string {
  if (user === undefined) return '{}';
  let text = userTexts.get(user);
  if (text === undefined) {
    const { name, uid, groups, extra } = user;
    text = JSON.stringify({
      username: name === '' ? undefined : name,
      uid: uid === '' ? undefined : uid,
      groups: groups.length === 0 ? undefined : groups,
      extra: Object.keys(extra).length === 0 ? undefined : extra,
    });
    userTexts.set(user, text);
  }
  return text;
}

function referenceText({ requestInfo, name, namespace, uid, resourceVersion }: AuditInfo): string {
  const { resource, apiGroup, apiVersion, subresource } = requestInfo;
  let text = `{"resource":${quoted(resource)}`;
  if (namespace !== '') text += `,"namespace":${quoted(namespace)}`;
  if (name !== '') text += `,"name":${quoted(name)}`;
  if (uid !== '') text += `,"uid":${quoted(uid)}`;
  if (apiGroup !== '') text += `,"apiGroup":${quoted(apiGroup)}`;
  text += `,"apiVersion":${quoted(apiVersion)}`;
  if (resourceVersion !== '') text += `,"resourceVersion":${quoted(resourceVersion)}`;
  if (subresource !== '') text += `,"subresource":${quoted(subresource)}`;
  return `${text}}`;
}

function responseText({ code, status, reason, message, details }: ResponseInfo): string {
  let text = '{"metadata":{}';
  if (status !== '') text += `,"status":${quoted(status)}`;
  if (message !== '') text += `,"message":${quoted(message)}`;
  if (reason !== '') text += `,"reason":${quoted(reason)}`;
  if (details !== '') text += `,"details":${details}`;
  return `${text},"code":${code}}`;
}

/** Other Unicode line separators are not escaped: only U+000A ends a line of a file. */
const quoted = (text: string): string => JSON.stringify(text);

let lastSecond = -1;
let lastText = '';

/** RFC 3339 in UTC with microseconds. */
export function microTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = new Date(second * 1000).toISOString().slice(0, 20);
  }
  const micros = Math.floor((milliseconds - second * 1000) * 1000);
  return `${lastText}${String(micros).padStart(6, '0')}Z`;
}
