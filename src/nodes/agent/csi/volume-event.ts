import type { EventSink, EventType } from '../agent-events.js';
import type { CsiVolume } from './csi-volume.js';

/** Records an event about a volume, on its pod. */
export function volumeEvent(
  events: EventSink,
  { pod: { metadata } }: CsiVolume,
  type: EventType,
  reason: string,
  message: string,
): void {
  const { namespace = '', name = '', uid = '' } = metadata;
  events.record({ kind: 'Pod', namespace, name, uid }, type, reason, message);
}
