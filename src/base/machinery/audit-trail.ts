/**
 * Receives what the parts of the program report to the audit trail about the request they work on (specification 6.2).
 * A request has a trail only while an audit policy is in force; see `audit/request-audit.ts`.
 */
export interface AuditTrail {
  /** Whether the object that the client sent is recorded, and not only its identity. */
  readonly wantsRequestObject: boolean;
  /** Whether the object in the response is recorded. */
  readonly wantsResponseObject: boolean;
  /**
   * Called when the sender is known: from now on a policy rule applies. Throws a 500 if the event must be recorded and
   * can't be. If a promise is returned, the request continues when the event is recorded.
   */
  identified(): Promise<void> | undefined;
  /** Called with the outcome of authorization. */
  decided(isAllowed: boolean, reason: string): void;
  /** Called when a handler starts on the request. The outcome is recorded even if the client does not wait for it. */
  entered(): void;
  left(): void;
  /**
   * Called with the decoded object, with defaults and before admission, or with what was sent instead of an object. Not
   * kept, so it may change afterwards.
   */
  requested(object: unknown): void;
  /** Called with the response body. */
  answered(code: number, value: unknown): void;
  /** Called with the response body, which is JSON. */
  answeredText(code: number, json: string): void;
  /** Called with a part of the response body, which is JSON. */
  answeredPiece(code: number, json: string): void;
  /** Called when the parts so far are the whole response body; without this call, none of them is recorded. */
  answeredAll(): void;
  /** Called when a fault of the program ended the request. */
  failed(): void;
  /** Called with the version of the object after the request's write; the same version as before if nothing changed. */
  wrote(resourceVersion: bigint | undefined): void;
}
