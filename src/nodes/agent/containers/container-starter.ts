import type { Timers } from '../../../base/machinery/timers.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { EventType } from '../agent-events.js';
import { containerStates, type ImageSpec } from '../cri/container-messages.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { SandboxConfig } from '../cri/sandbox-messages.js';
import type { DeviceManager } from '../devices/device-manager.js';
import { GrpcError } from '../grpc/grpc-error.js';
import type { ImagePuller } from '../images/image-puller.js';
import { StartFailure } from '../images/start-failure.js';
import type { NodeSettings } from '../node-settings.js';
import type { PodFolders } from '../pod-folders.js';
import type { ContainerStart } from '../pods/pod-actions.js';
import { podUid } from '../pods/pod-form.js';
import { isCreated, nameOf, type RuntimePod, restartCountOf } from '../pods/runtime-pod.js';
import type { ReadyVolume } from '../volumes/pod-volumes.js';
import { type ContainerInput, containerConfigOf } from './container-config.js';
import type { EnvironmentReader } from './environment.js';
import { runHook } from './hooks.js';
import { PendingHooks } from './pending-hooks.js';

export interface StarterDependencies {
  readonly runtime: ContainerRuntime;
  readonly images: ImagePuller;
  readonly objects: EnvironmentReader;
  readonly settings: NodeSettings;
  readonly folders: PodFolders;
  readonly timers: Timers;
  readonly userAgent: string;
  readonly devices: Pick<DeviceManager, 'allocationsOf' | 'preStart'>;
  /**
   * The environment variables of the services that pods of a namespace may see. @throws Error while the services are
   * not known
   */
  readonly servicesOf: (pod: Pod) => ReadonlyMap<string, string>;
}

export interface StartRequest {
  readonly pod: Pod;
  readonly start: ContainerStart;
  readonly runtime: RuntimePod;
  readonly sandboxId: string;
  readonly sandbox: SandboxConfig;
  readonly podIPs: readonly string[];
  readonly volumes: ReadonlyMap<string, ReadyVolume>;
  readonly signal: AbortSignal;
  readonly event: (type: EventType, reason: string, message: string) => void;
}

/** A run that has started, and whose hook may have to run. */
export interface StartedContainer extends Pick<StartRequest, 'pod' | 'podIPs' | 'signal' | 'event'> {
  readonly container: Container;
  readonly id: string;
}

/**
 * Starts containers. A container that an earlier process created and did not start is replaced, so there are never two.
 */
export class ContainerStarter {
  private readonly pendingHooks: PendingHooks;

  constructor(private readonly dependencies: StarterDependencies) {
    this.pendingHooks = new PendingHooks(dependencies.folders);
  }

  /** Returns when the container runs and its hook has ended. @throws StartFailure */
  async start(request: StartRequest): Promise<void> {
    const { runtime, images } = this.dependencies;
    const { pod, start, sandbox, signal, event } = request;
    const { container } = start.declared;
    const { image, ref } = await images.ensure({ pod, container, sandbox, signal, event });
    signal.throwIfAborted();
    const imageVolumes = await this.imageVolumesOf(request);
    const restartCount = await this.prepareRun(request);
    await this.prepareDevices(request);
    const config = await this.configOf(request, { image, imageRef: ref, restartCount, imageVolumes });
    let id: string;
    try {
      id = await runtime.createContainer(request.sandboxId, config, sandbox);
    } catch (error) {
      throw failed(event, 'CreateContainerError', error);
    }
    event('Normal', 'Created', 'Container created');
    if (container.lifecycle?.postStart) await this.pendingHooks.begin(podUid(pod), container.name, id);
    try {
      await runtime.startContainer(id);
    } catch (error) {
      throw failed(event, 'RunContainerError', error);
    }
    event('Normal', 'Started', 'Container started');
    await this.runPostStart({ ...request, container: container as Container, id });
  }

  /** Runs the postStart hook of a run if an earlier process was killed before it had ended. @throws StartFailure */
  async resumePostStart(started: StartedContainer): Promise<void> {
    const { pod, container, id } = started;
    if (await this.pendingHooks.isPending(podUid(pod), container.name, id)) await this.runPostStart(started);
  }

  /** How often the container was started before; containers that were created and never started are removed. */
  private async prepareRun({ runtime: known, start }: StartRequest): Promise<number> {
    const { name } = start.declared.container;
    for (const run of known.containers) {
      if (nameOf(run) === name && isCreated(run)) await this.dependencies.runtime.removeContainer(run.id);
    }
    const { before } = start;
    if (before === undefined) return start.reportedRestarts === undefined ? 0 : start.reportedRestarts + 1;
    return isCreated(before) ? restartCountOf(before) : restartCountOf(before) + 1;
  }

  private async prepareDevices({ pod, start, event }: StartRequest): Promise<void> {
    try {
      await this.dependencies.devices.preStart(podUid(pod), start.declared.container.name);
    } catch (error) {
      throw failed(event, 'PreStartContainerError', error);
    }
  }

  /** Gets the images that the container has as volumes. */
  private async imageVolumesOf({ pod, start, sandbox, signal, event }: StartRequest): Promise<Map<string, ImageSpec>> {
    const wanted = new Set((start.declared.container.volumeMounts ?? []).map(({ name }) => name));
    const found = new Map<string, ImageSpec>();
    for (const { name, image: source } of pod.spec.volumes ?? []) {
      if (!source || !wanted.has(name)) continue;
      const container = { name, image: source.reference ?? '', imagePullPolicy: source.pullPolicy } as Container;
      const { ref } = await this.dependencies.images.ensure({ pod, container, sandbox, signal, event });
      found.set(name, { image: ref, userSpecifiedImage: source.reference ?? '' });
    }
    return found;
  }

  private async configOf(
    request: StartRequest,
    run: Pick<ContainerInput, 'image' | 'imageRef' | 'restartCount' | 'imageVolumes'>,
  ) {
    const { objects, settings, folders, servicesOf, devices } = this.dependencies;
    const { pod, start, volumes, podIPs, event } = request;
    const { declared } = start;
    try {
      return await containerConfigOf({
        ...{ ...run, pod, declared, podIPs, volumes, objects, settings, folders },
        allocations: devices.allocationsOf(podUid(pod), declared.container.name),
        targetId: targetOf(request),
        services: servicesOf(pod),
      });
    } catch (error) {
      throw failed(event, 'CreateContainerConfigError', error);
    }
  }

  private async runPostStart({ pod, container, id, signal, event, podIPs }: StartedContainer): Promise<void> {
    const { runtime, timers, userAgent } = this.dependencies;
    const hook = container.lifecycle?.postStart;
    if (!hook) return;
    try {
      const address = podIPs[0] ?? this.dependencies.settings.hostIPs()[0] ?? '';
      await runHook(hook, { runtime, timers, containerId: id, container, address, userAgent, signal });
    } catch (error) {
      signal.throwIfAborted();
      const message = `PostStartHook failed: ${(error as Error).message}`;
      // The output of the hook may be secret, and events have more readers than the pod.
      event('Warning', 'FailedPostStartHook', 'PostStartHook failed');
      event('Normal', 'Killing', 'FailedPostStartHook');
      await runtime.stopContainer(id, Number(pod.spec.terminationGracePeriodSeconds ?? 30));
      throw new StartFailure({ reason: 'PostStartHookError', message });
    }
    signal.throwIfAborted();
    await this.pendingHooks.end(podUid(pod), container.name);
  }
}

function failed(event: StartRequest['event'], reason: string, error: unknown): StartFailure {
  if (error instanceof StartFailure) return error;
  const message = error instanceof GrpcError ? error.detail : error instanceof Error ? error.message : String(error);
  event('Warning', 'Failed', `Error: ${message}`);
  return new StartFailure({ reason, message });
}

function targetOf({ start, runtime }: StartRequest): string | undefined {
  const { declared } = start;
  if (declared.role !== 'ephemeral') return undefined;
  const { targetContainerName } = declared.container as { readonly targetContainerName?: string };
  if (!targetContainerName) return undefined;
  const target = runtime.containers.find(
    (run) => nameOf(run) === targetContainerName && run.state === containerStates.running,
  );
  if (target === undefined)
    throw new StartFailure({
      reason: 'CreateContainerConfigError',
      message: `container ${targetContainerName} is not running`,
    });
  return target.id;
}
