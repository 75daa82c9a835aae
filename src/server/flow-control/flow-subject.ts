import type { RequestInfo, UserInfo } from '../../base/machinery/request-context.js';
import type { SchemaInEffect } from './schema-in-effect.js';

/** The request behind a ticket, as far as reports and counts need it. */
export interface FlowSubject {
  readonly schema: SchemaInEffect;
  readonly distinguisher: string;
  readonly user: UserInfo;
  readonly info: RequestInfo;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly isWatch: boolean;
  readonly kind: 'readOnly' | 'mutating';
}
