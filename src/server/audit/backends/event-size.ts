import type { AuditEvent } from '../audit-event.js';

/** Limits in bytes. */
export interface SizeLimits {
  readonly eventBytes: number;
  readonly batchBytes: number;
}

/** The event if it fits, or else without its objects; undefined when it is still too long. */
export function fitted(event: AuditEvent, limits: SizeLimits | undefined): AuditEvent | undefined {
  if (limits === undefined || bytesOf(event) <= limits.eventBytes) return event;
  if (!event.hasObjects) return undefined;
  const shorter = event.truncated();
  return bytesOf(shorter) <= limits.eventBytes ? shorter : undefined;
}

/** Splits events into groups of at most the given number of bytes each. */
export function groupsOf(events: readonly AuditEvent[], limits: SizeLimits | undefined): AuditEvent[][] {
  if (limits === undefined) return [[...events]];
  const groups: AuditEvent[][] = [];
  let group: AuditEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = bytesOf(event);
    if (group.length > 0 && bytes + size > limits.batchBytes) {
      groups.push(group);
      group = [];
      bytes = 0;
    }
    group.push(event);
    bytes += size;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

function bytesOf(event: AuditEvent): number {
  return Buffer.byteLength(event.item);
}
