import type { ApiObject } from '../../base/machinery/api-object.js';
import { Backoff } from '../../base/machinery/backoff.js';
import { formatTime } from '../../base/machinery/clock.js';
import { errorText } from '../../base/machinery/startup-error.js';
import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import { volumeAnnotations } from '../../base/machinery/volume-annotations.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ApiAccess } from '../../base/outgoing/api-access.js';
import type { StorageClass } from '../../objects/apis/storage/v1/storage-class.types.js';
import { ApiConnection, type ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import { watchObjects } from '../connection/object-watch.js';
import {
  asksForVolume,
  nextVolumeStep,
  provisionerFinalizer,
  type StoredClaim,
  type StoredVolume,
  simulatedClass,
  simulatedDriverObject,
  simulatedProvisioner,
  volumeFor,
} from './volume-object.js';

export interface SimulatedVolumesOptions {
  readonly access: ApiAccess;
  readonly names: VendorNames;
  readonly logger: Logger;
  /** Whether to make a default storage class when there is none. */
  readonly storageClass: boolean;
  readonly timers?: Timers;
  readonly random?: () => number;
}

const retryMs = 1000;
const longestPauseMs = 30_000;

/** Starts to make volumes. Returns at once; what fails is tried again until the end. */
export function startSimulatedVolumes(options: SimulatedVolumesOptions): { stop(): Promise<void> } {
  const connection = new ApiConnection(options.access);
  const stop = new AbortController();
  const work = new VolumeProvisioner(options, connection.own()).run(stop.signal);
  return {
    stop: async () => {
      stop.abort();
      await work;
      connection.stop();
    },
  };
}

/**
 * An external provisioner: makes a volume for every claim that asks for one of {@link simulatedProvisioner}, and
 * removes those whose claim is gone. Several provisioners do no harm: the name of a volume follows from its claim.
 */
class VolumeProvisioner {
  private readonly claims = new Map<string, StoredClaim>();
  private readonly volumes = new Map<string, StoredVolume>();
  /** The objects being worked on, by uid, and those that have changed since that began. */
  private readonly active = new Set<string>();
  private readonly changed = new Set<string>();
  private readonly running = new Set<Promise<void>>();
  private readonly timers: Timers;
  private readonly classesPath: string;
  private events = 0;

  constructor(
    private readonly options: SimulatedVolumesOptions,
    private readonly api: ApiUser,
  ) {
    this.timers = options.timers ?? systemTimers;
    this.classesPath = `/apis/${groupName('storage', options.names)}/v1/storageclasses`;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.makeClass(signal),
      this.makeDriver(signal),
      this.follow('persistentvolumeclaims', this.claims, signal),
      this.follow('persistentvolumes', this.volumes, signal),
    ]);
    await Promise.all(this.running);
  }

  private follow<T extends ApiObject>(resource: string, objects: Map<string, T>, signal: AbortSignal): Promise<void> {
    const { logger, random = Math.random } = this.options;
    const onObject = (object: T) => {
      const { uid = '' } = object.metadata;
      objects.set(uid, object);
      this.lookAt(uid, signal);
    };
    const onGone = (uid: string) => void objects.delete(uid);
    const known = () => objects.keys();
    const { api, timers } = this;
    return watchObjects({ api, path: `/api/v1/${resource}`, timers, random, logger, onObject, onGone, known }, signal);
  }

  /** Does the work for an object, one run at a time and on its newest state. */
  private lookAt(uid: string, signal: AbortSignal): void {
    this.changed.add(uid);
    if (this.active.has(uid)) return;
    this.active.add(uid);
    const work = this.workOn(uid, signal);
    this.running.add(work);
    void work.finally(() => this.running.delete(work));
  }

  private async workOn(uid: string, signal: AbortSignal): Promise<void> {
    const backoff = new Backoff({ firstMs: retryMs, longestMs: longestPauseMs });
    while (this.changed.delete(uid) && !signal.aborted) {
      const claim = this.claims.get(uid);
      const volume = this.volumes.get(uid);
      try {
        if (claim !== undefined) await this.provision(claim, signal);
        if (volume !== undefined) await this.remove(volume, signal);
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        const object = (claim ?? volume)?.metadata.name;
        this.options.logger.warn('a simulated volume could not be made or removed yet', { object, error });
        await this.timers.wait(backoff.next(), signal);
        this.changed.add(uid);
      }
    }
    this.active.delete(uid);
  }

  private async provision(claim: StoredClaim, signal: AbortSignal): Promise<void> {
    const { names } = this.options;
    if (!asksForVolume(claim, names)) return;
    const className =
      claim.metadata.annotations?.[volumeAnnotations(names).storageClass] ?? claim.spec.storageClassName;
    if (!className) return;
    const path = `${this.classesPath}/${className}`;
    const storageClass = await this.unless(404, this.api.send<StorageClass & ApiObject>('GET', path, { signal }));
    const body = storageClass && volumeFor(claim, storageClass, names);
    if (body === undefined) return;
    // The volume may exist already, when this process or another one was faster.
    const made = await this.unless(409, this.api.send('POST', '/api/v1/persistentvolumes', { body, signal }));
    if (made !== undefined) {
      this.record(claim, 'ProvisioningSucceeded', `Successfully provisioned volume ${made.metadata.name}`, signal);
    }
  }

  private async remove(volume: StoredVolume, signal: AbortSignal): Promise<void> {
    const { names } = this.options;
    const { name, uid, finalizers, resourceVersion } = volume.metadata;
    const path = `/api/v1/persistentvolumes/${name}`;
    const step = nextVolumeStep(volume, names);
    if (step === 'delete') {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
      await this.unless(404, this.unless(409, this.api.send('DELETE', path, { body, signal })));
    } else if (step === 'let go') {
      const left = finalizers?.filter((one) => one !== provisionerFinalizer(names)) ?? [];
      const body = { metadata: { uid, resourceVersion, finalizers: left } };
      const contentType = 'application/merge-patch+json';
      // A volume that has changed is processed again.
      await this.unless(404, this.unless(409, this.api.send('PATCH', path, { body, contentType, signal })));
    }
  }

  /** Makes the object of the CSI driver, without which its volumes would wait for an attacher. */
  private async makeDriver(signal: AbortSignal): Promise<void> {
    const { names, logger } = this.options;
    const path = `/apis/${groupName('storage', names)}/v1/csidrivers`;
    while (!signal.aborted) {
      try {
        await this.unless(409, this.api.send('POST', path, { body: simulatedDriverObject(names), signal }));
        return;
      } catch (error) {
        if (signal.aborted) return;
        const isRefused = error instanceof ApiError && error.status === 403;
        logger.warn('the driver of simulated volumes could not be made', { error: errorText(error) });
        if (isRefused) return;
        await this.timers.wait(retryMs, signal);
      }
    }
  }

  /** Makes a default class unless there is one. */
  private async makeClass(signal: AbortSignal): Promise<void> {
    const { storageClass, names, logger } = this.options;
    const { defaultClasses } = volumeAnnotations(names);
    while (storageClass && !signal.aborted) {
      try {
        const { items } = await this.api.send<{ items: ApiObject[] }>('GET', this.classesPath, { signal });
        const isDefault = ({ metadata }: ApiObject) =>
          defaultClasses.some((key) => metadata.annotations?.[key] === 'true');
        if (items.some(isDefault)) return;
        await this.unless(409, this.api.send('POST', this.classesPath, { body: simulatedClass(names), signal }));
        return;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('the class of simulated volumes could not be made yet', { error: errorText(error) });
        await this.timers.wait(retryMs, signal);
      }
    }
  }

  /** Resolves with undefined when the API answers with this status. */
  private async unless<T>(status: number, answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof ApiError && error.status === status) return undefined;
      throw error;
    }
  }

  private record({ metadata }: StoredClaim, reason: string, message: string, signal: AbortSignal): void {
    const { name, namespace, uid, resourceVersion } = metadata;
    const now = this.timers.now();
    const time = formatTime(now);
    this.events += 1;
    const body = {
      metadata: { name: `${name}.${now.toString(16)}${this.events.toString(16)}`, namespace },
      involvedObject: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion },
      type: 'Normal',
      reason,
      message,
      source: { component: simulatedProvisioner },
      reportingComponent: simulatedProvisioner,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
    // No work depends on events.
    this.api.send('POST', `/api/v1/namespaces/${namespace}/events`, { body, signal }).catch(() => undefined);
  }
}
