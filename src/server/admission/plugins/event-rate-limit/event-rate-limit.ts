import type { RequestContext } from '../../../../base/machinery/request-context.js';
import { StatusError } from '../../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { Event } from '../../../../objects/apis/core/v1/event.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import type { EventLimit, LimitType } from './event-rate-limit-configuration.js';
import { TokenBuckets } from './token-buckets.js';

/**
 * Limits how many events are written per second: in total, or per namespace, user, or source and object (specification
 * 5.5). Each process counts separately. Events of both API groups count.
 */
export class EventRateLimit implements AdmissionPlugin {
  readonly name = 'EventRateLimit';
  private readonly limits: readonly { readonly type: LimitType; readonly buckets: TokenBuckets }[];
  private readonly groups: ReadonlySet<string>;
  /** Outcome by request, so that a retried write counts once. */
  private readonly judged = new WeakMap<RequestContext, StatusError | 'accepted'>();

  /** @param now milliseconds from a fixed point */
  constructor(limits: readonly EventLimit[], names: VendorNames, now: () => number = () => performance.now()) {
    this.limits = limits.map(({ type, qps, burst, cacheSize }) => ({
      type,
      buckets: new TokenBuckets(qps, burst, cacheSize, now),
    }));
    this.groups = new Set(['', groupName('events', names)]);
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  validate(attributes: AdmissionAttributes): void {
    const { resource, dryRun, context } = attributes;
    if (dryRun || resource.resource !== 'events' || !this.groups.has(resource.group)) return;
    const judged = this.judged.get(context) ?? this.judge(attributes);
    this.judged.set(context, judged);
    if (judged !== 'accepted') throw judged;
  }

  private judge(attributes: AdmissionAttributes): StatusError | 'accepted' {
    const problems: string[] = [];
    // Every limit counts the event, even if another one refuses it.
    for (const { type, buckets } of this.limits) {
      const key = keyOf(type, attributes);
      if (!buckets.take(key)) problems.push(`limit reached on type ${type} for key ${key}`);
    }
    if (problems.length === 0) return 'accepted';
    const text = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
    return new StatusError('TooManyRequests', `Too many requests: ${text}`);
  }
}

function keyOf(type: LimitType, { namespace, userInfo, storedObject }: AdmissionAttributes): string {
  switch (type) {
    case 'Server':
      return '';
    case 'Namespace':
      return namespace;
    case 'User':
      return userInfo.name;
    case 'SourceAndObject': {
      const { source, reportingComponent, reportingInstance, involvedObject } = storedObject as unknown as Event;
      const { kind, namespace: of, name, uid, apiVersion } = involvedObject;
      // Events of the newer group name their source in other fields.
      const reporter = [source.component || reportingComponent, source.host || reportingInstance];
      return [...reporter, kind, of, name, uid, apiVersion].join('');
    }
  }
}
