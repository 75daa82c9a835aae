import type { StoredPod } from '../frame/indexes.js';
import type { LoopEvents } from '../frame/loop-events.js';
import type { AttachableVolume } from './attachable-volume.js';

/** The most volumes whose reports are remembered: pods that never start may come and go forever. */
const mostRemembered = 4096;

/** Reports to pods the state of their volumes, each state once. */
export class AttachEvents {
  /** What the events have already reported, by `<node> <volume>`. */
  private readonly reported = new Map<string, string>();

  constructor(private readonly events: () => Pick<LoopEvents, 'normal' | 'warning'>) {}

  /** Forgets what was reported: for everything, or for a volume on a node. */
  forget(nodeName?: string, volume?: string): void {
    if (nodeName === undefined) this.reported.clear();
    else this.reported.delete(`${nodeName} ${volume}`);
  }

  /** Reports that the volume could not be attached. `version` identifies the state that reports it. */
  failed(
    nodeName: string,
    { uniqueName, name }: AttachableVolume,
    pods: readonly StoredPod[],
    { text, version }: { readonly text: string; readonly version: string },
  ): void {
    this.warnOnce(nodeName, uniqueName, pods, `AttachVolume.Attach failed for volume "${name}" : ${text}`, version);
  }

  /** Writes a warning for each pod unless the same message was already reported for the same state. */
  warnOnce(nodeName: string, volume: string, pods: readonly StoredPod[], text: string, version: string): void {
    const key = `${nodeName} ${volume}`;
    if (this.reported.get(key) === `${text} ${version}`) return;
    this.reported.delete(key);
    this.reported.set(key, `${text} ${version}`);
    const [oldest] = this.reported.keys();
    if (this.reported.size > mostRemembered && oldest !== undefined) this.reported.delete(oldest);
    for (const pod of pods) this.events().warning(pod, 'FailedAttachVolume', text);
  }

  /** Reports that the node may mount the volume now. */
  attached(nodeName: string, uniqueName: string, pods: readonly StoredPod[], volume: string | undefined): void {
    this.forget(nodeName, uniqueName);
    for (const pod of pods) {
      this.forget(nodeName, `${uniqueName} ${pod.metadata.uid}`);
      // The message ends with a space, as in the reference: programs compare messages.
      this.events().normal(pod, 'SuccessfulAttachVolume', `AttachVolume.Attach succeeded for volume "${volume}" `);
    }
  }
}
