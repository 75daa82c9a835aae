import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { PodStatus } from '../../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { ApiError } from '../../connection/api-error.js';
import { resizeConditions } from './pod-status.js';

/** The API object whose status is written. */
export interface StatusTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const firstPauseMs = 200;
const longestPauseMs = 30_000;
/**
 * A status that others overwrite again and again is repeated at these intervals at most, or two writers who disagree would
 * use up all requests of the node.
 */
const repeatMs = 10_000;

/**
 * Writes the newest status of one pod, again and again until the API has it. Deletes a pod that is over after its last
 * status.
 */
export class StatusWriter {
  private wanted: PodStatus | undefined;
  private written = '';
  private isRemovalWanted = false;
  private isRemoved = false;
  private isWorking = false;
  private isGone = false;
  private target: StatusTarget | undefined;
  private repeatAt = Number.NEGATIVE_INFINITY;
  private isRepeating = false;

  constructor(
    private readonly dependencies: {
      readonly api: ApiUser;
      readonly timers: Timers;
      readonly logger: Logger;
      readonly signal: AbortSignal;
      /** Called when the API no longer has the pod. */
      readonly onGone: () => void;
    },
  ) {}

  /** The object to write to, which a static pod gets late, and again when its mirror is recreated. */
  aim(target: StatusTarget | undefined): void {
    if (target?.uid !== this.target?.uid) {
      this.written = '';
      this.isGone = false;
    }
    this.target = target;
    this.begin();
  }

  set(status: PodStatus): void {
    this.wanted = status;
    this.begin();
  }

  /** Another writer changed the status. The first time it is written again at once, then every ten seconds at most. */
  contradict(): void {
    const { timers, signal } = this.dependencies;
    if (this.isRepeating) return;
    const waitMs = this.repeatAt - timers.elapsed();
    if (waitMs <= 0) {
      this.repeat();
      return;
    }
    this.isRepeating = true;
    void timers.wait(waitMs, signal).then(() => {
      this.isRepeating = false;
      if (!signal.aborted) this.repeat();
    });
  }

  private repeat(): void {
    this.repeatAt = this.dependencies.timers.elapsed() + repeatMs;
    this.written = '';
    this.begin();
  }

  /** The pod may be deleted after its last status. */
  remove(): void {
    this.isRemovalWanted = true;
    this.begin();
  }

  private begin(): void {
    if (this.isWorking || this.isGone) return;
    this.isWorking = true;
    void this.work().finally(() => {
      this.isWorking = false;
      // A status that was set while the last write ended must not wait for the next change.
      if (this.hasWork && !this.dependencies.signal.aborted) this.begin();
    });
  }

  /** Whether the API has the newest status. */
  get isWritten(): boolean {
    return !this.isWorking && !this.hasWork;
  }

  private get hasWork(): boolean {
    const { target, wanted, isGone, isRemovalWanted, isRemoved } = this;
    if (isGone || target === undefined || wanted === undefined) return false;
    return JSON.stringify(wanted) !== this.written || (isRemovalWanted && !isRemoved);
  }

  private async work(): Promise<void> {
    const { timers, logger, signal } = this.dependencies;
    let pauseMs = firstPauseMs;
    while (!signal.aborted && !this.isGone) {
      const { target, wanted } = this;
      if (target === undefined || wanted === undefined) return;
      try {
        const text = JSON.stringify(wanted);
        if (text !== this.written) {
          await this.writeStatus(target, wanted);
          if (target === this.target) this.written = text;
        } else if (this.isRemovalWanted) {
          const { namespace, name, uid } = target;
          const body = { gracePeriodSeconds: 0, preconditions: { uid } };
          await this.send('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, body);
          this.isRemoved = true;
          return;
        } else return;
        pauseMs = firstPauseMs;
      } catch (error) {
        if (signal.aborted) return;
        logger.debug('the status of a pod could not be written yet', { ...target, error });
        await timers.wait(pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
      }
    }
  }

  private async writeStatus({ namespace, name, uid }: StatusTarget, status: PodStatus): Promise<void> {
    const { podIPs, hostIPs, conditions, ...others } = status;
    const body = {
      metadata: { uid },
      status: {
        ...others,
        // The API merges conditions by type, so conditions that no longer hold must be deleted explicitly.
        conditions: [
          ...(conditions ?? []).map((each) => ({
            ...each,
            reason: each.reason ?? null,
            message: each.message ?? null,
          })),
          ...resizeConditions
            .filter((type) => conditions?.every((each) => each.type !== type))
            .map((type) => ({ type, $patch: 'delete' })),
        ],
        // Earlier addresses of the pod are deleted explicitly.
        ...(podIPs === undefined && hostIPs === undefined
          ? {}
          : { podIPs: [{ $patch: 'replace' }, ...(podIPs ?? [])] }),
        ...(hostIPs === undefined ? {} : { hostIPs: [{ $patch: 'replace' }, ...hostIPs] }),
        ...(others.podIP === undefined ? { podIP: null } : {}),
      },
    };
    await this.send('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, body);
  }

  /** Whether the API still has this pod, and not another one of the same name. */
  private async isThere(path: string): Promise<boolean> {
    const { api, signal } = this.dependencies;
    const target = this.target;
    try {
      const { metadata } = await api.send('GET', path.replace(/\/status$/, ''), { signal });
      return metadata.uid === target?.uid;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return false;
      throw error;
    }
  }

  private async send(method: string, path: string, body: object): Promise<ApiObject | undefined> {
    const contentType = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    try {
      return await this.dependencies.api.send(method, path, { body, contentType, signal: this.dependencies.signal });
    } catch (error) {
      const isGone = error instanceof ApiError && (error.status === 404 || error.status === 409);
      // Other writers can cause a conflict too; that must not end a pod.
      if (!isGone || (error.status === 409 && (await this.isThere(path)))) throw error;
      this.isGone = true;
      this.dependencies.onGone();
      return undefined;
    }
  }
}
