/**
 * Reports from the parts of the program to the audit trail about the request they work on (specification 6.2). A
 * request has a trail only while an audit policy is in force; see `audit/request-audit.ts`.
 */
export interface AuditTrail {
  /** Whether the object that the client sent is recorded, and not only its identity. */
  readonly wantsRequestObject: boolean;
  /** Whether the answered object is recorded. */
  readonly wantsResponseObject: boolean;
  /**
   * The sender is known: from now on a policy rule applies. Throws a 500 if the event must be recorded and can't be. A
   * returned promise: the request continues when the event is recorded.
   */
  identified(): Promise<void> | undefined;
  /** The outcome of authorization. */
  decided(isAllowed: boolean, reason: string): void;
  /** A handler works on the request. Its outcome is recorded even if the client does not wait for it. */
  entered(): void;
  left(): void;
  /**
   * The object as decoded, with defaults and before admission, or what was sent instead of one. Not kept, so it may
   * change afterwards.
   */
  requested(object: unknown): void;
  /** The answer is this value. */
  answered(code: number, value: unknown): void;
  /** The answer is this value as JSON. */
  answeredText(code: number, json: string): void;
  /** A part of the answer, which is JSON. */
  answeredPiece(code: number, json: string): void;
  /** The parts so far are the whole answer: otherwise none of them is recorded. */
  answeredAll(): void;
  /** A fault of the program ended the request. */
  failed(): void;
  /** The version of the object after the write of the request, which may be the one before it. */
  wrote(resourceVersion: bigint | undefined): void;
}
