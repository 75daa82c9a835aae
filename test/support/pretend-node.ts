import { formatTime } from '../../src/base/machinery/clock.js';
import type { StoredPod } from '../../src/loops/controllers/frame/indexes.js';
import type { PodCondition, PodPhase } from '../../src/objects/apis/core/v1/pod.types.js';
import type { LoopScene } from './loop-scene.js';

/** What a {@link PretendNode} does in the background. */
export interface PretendNodeHabits {
  /** Which new pods become ready. Default: all. */
  readonly ready?: (pod: StoredPod) => boolean;
}

/** Plays the role of a node's agent in specs: writes the status of pods, and ends pods that are being deleted. */
export class PretendNode {
  constructor(
    private readonly scene: LoopScene,
    private readonly namespace = 'default',
  ) {}

  /** Marks the pod as running and ready. */
  ready(name: string): Promise<StoredPod> {
    return this.write(name, 'Running', true);
  }

  /** Marks the pod as running but not ready. */
  unready(name: string): Promise<StoredPod> {
    return this.write(name, 'Running', false);
  }

  /** Marks the containers of the pod as ended. */
  finish(name: string, phase: 'Failed' | 'Succeeded' = 'Succeeded'): Promise<StoredPod> {
    return this.write(name, phase, false);
  }

  /** Removes a pod that is being deleted, as an agent does when its containers have ended. */
  async remove(name: string): Promise<void> {
    await this.scene.delete('pods', this.namespace, name, { gracePeriodSeconds: 0 });
  }

  /** Puts the pod on a node. */
  async bind(name: string, node: string): Promise<void> {
    await this.scene.bind(this.namespace, name, node);
  }

  /**
   * Makes pods ready as they appear and removes those that are being deleted, in the background until the end of the
   * scene or of the returned function.
   */
  async work({ ready = () => true }: PretendNodeHabits = {}): Promise<() => void> {
    const begun = new Set<string>();
    return this.scene.follow<StoredPod>('pods', (pod) => {
      if (pod === undefined || pod.metadata.namespace !== this.namespace) return;
      const { name = '', uid = '', deletionTimestamp } = pod.metadata;
      if (deletionTimestamp !== undefined) return ignoreMissing(this.remove(name));
      if (begun.has(uid) || pod.status.phase !== 'Pending' || !ready(pod)) return;
      begun.add(uid);
      return ignoreMissing(this.ready(name));
    });
  }

  private write(name: string, phase: PodPhase, isReady: boolean): Promise<StoredPod> {
    const time = formatTime(this.scene.timers.now());
    const change = ({ status }: StoredPod) => {
      status.phase = phase;
      status.startTime ??= time;
      status.conditions ??= [];
      for (const type of ['Ready', 'ContainersReady']) setCondition(status.conditions, type, isReady, time);
    };
    return this.scene.update<StoredPod>('pods', this.namespace, name, change, 'status');
  }
}

function setCondition(conditions: PodCondition[], type: string, value: boolean, time: string): void {
  const status = value ? 'True' : 'False';
  const known = conditions.find((condition) => condition.type === type);
  if (known === undefined) conditions.push({ type, status, lastProbeTime: null, lastTransitionTime: time });
  else if (known.status !== status) Object.assign(known, { status, lastTransitionTime: time });
}

/** A pod may disappear while the node writes its status. */
async function ignoreMissing(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!/is missing|was replaced/.test(String(error))) throw error;
  }
}
