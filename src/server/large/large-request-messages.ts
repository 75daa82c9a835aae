import type { AdmissionOptions } from '../../base/config/admission.options.js';
import type { AdmissionConfiguration } from '../../base/config/admission-configuration.js';
import type { ClusterOptions } from '../../base/config/cluster.options.js';
import type { LoggingOptions } from '../../base/config/logging.options.js';
import type { UserInfo } from '../../base/machinery/request-context.js';
import type { StatusDetails, StatusReason } from '../../base/machinery/status-error.js';
import type { MetricFamilies } from '../../base/observability/metrics.js';
import type { OtlpSettings } from '../../base/observability/otlp-tracer.js';
import type { StoredObject, UpdateDecision } from '../../storage/storage.interface.js';
import type { StorageErrorDetails } from '../../storage/storage-error.js';
import type { FollowedRule, TrailPart } from '../audit/request-audit.js';
import type { LargeEvent } from '../endpoints/handlers/watch-event.js';

/** The settings that the thread needs to respond as its process would. */
export interface LargeRequestThreadSettings {
  readonly cluster: ClusterOptions;
  readonly admission: AdmissionOptions;
  readonly admissionConfiguration: AdmissionConfiguration;
  readonly logging: LoggingOptions;
  readonly continueKey: Uint8Array;
  readonly maxBodyBytes: number;
  readonly listPageSize: number;
  readonly deleteCollectionWorkers: number;
  readonly garbageCollector: boolean;
  /** Where spans of traced requests are sent; undefined if nothing is traced. */
  readonly tracing: OtlpSettings | undefined;
  /** The token issuer's settings; undefined when this process has none. */
  readonly issuer: { readonly audiences: readonly string[]; readonly maxExpirationSeconds?: number } | undefined;
}

/** A request that is already authenticated and authorized. */
export interface LargeRequestMessage {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly user: UserInfo;
  readonly impersonator: UserInfo | undefined;
  /** How much of the request is recorded in the audit trail; undefined for nothing. */
  readonly audit: FollowedRule | undefined;
  /** The version of the store that the registry of the process reflects: the thread must be at least as current. */
  readonly definitionsAt: bigint;
}

export interface LargeRequestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly audit: TrailPart | undefined;
  /** Milliseconds that the request spent waiting for webhooks. */
  readonly waitedMs: number;
  /** The phases that ended in the thread, each with its duration in milliseconds. */
  readonly phases: readonly (readonly [name: string, ms: number])[];
}

/** Errors in a form that can be sent. Any error of another kind is an internal error. */
export type PackedError =
  | { readonly kind: 'storage'; readonly code: string; readonly message: string; readonly details: StorageErrorDetails }
  | {
      readonly kind: 'status';
      readonly reason: StatusReason | '';
      readonly message: string;
      readonly code: number;
      readonly details: StatusDetails | undefined;
      readonly continueToken: string | undefined;
    }
  | { readonly kind: 'fault'; readonly message: string }
  /** The thread's own function threw; the thread still has the error. */
  | { readonly kind: 'own' };

/** The parts of the process that the thread calls. */
export const largeRequestTargets = [
  'storage',
  'authorizer',
  'rules',
  'tokens',
  'issuer',
  'changes',
  'hookCalls',
] as const;
export type LargeRequestTarget = (typeof largeRequestTargets)[number];

export type ToThread =
  | { readonly type: 'request'; readonly id: number; readonly request: LargeRequestMessage }
  | { readonly type: 'event'; readonly id: number; readonly event: LargeEvent }
  /** The client of this request no longer waits for the response. */
  | { readonly type: 'left'; readonly id: number }
  | { readonly type: 'returned'; readonly id: number; readonly value: unknown }
  | { readonly type: 'threw'; readonly id: number; readonly error: PackedError }
  | { readonly type: 'decide'; readonly id: number; readonly current: StoredObject | undefined };

export type FromThread =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly id: number; readonly answer: LargeRequestAnswer }
  | { readonly type: 'encoded'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'failed'; readonly id: number; readonly message: string }
  /** The metrics of the thread since it started. */
  | { readonly type: 'counted'; readonly counts: MetricFamilies }
  | {
      readonly type: 'call';
      readonly id: number;
      readonly target: LargeRequestTarget;
      readonly method: string;
      readonly args: readonly unknown[];
    }
  /** The request begins to wait for a server outside, such as a webhook, or no longer does. */
  | { readonly type: 'remote'; readonly id: number; readonly isRemote: boolean }
  /** The decision of an update function; undefined when the function threw. */
  | { readonly type: 'decided'; readonly id: number; readonly decision: UpdateDecision | undefined };
