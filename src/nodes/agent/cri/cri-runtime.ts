import { type CallLimits, GrpcConnection, grpcCodes } from '../grpc/grpc-connection.js';
import { GrpcError } from '../grpc/grpc-error.js';
import { RememberedList } from '../grpc/remembered-list.js';
import { cancelLate } from './cancel-late.js';
import * as containers from './container-messages.js';
import type { CgroupDriver, ContainerRuntime } from './container-runtime.js';
import * as images from './image-messages.js';
import { runtimeLabels } from './labels.js';
import * as sandboxes from './sandbox-messages.js';

/** How much longer than its grace period a stop may take. */
const stopMarginMs = 30_000;
const noLimit = { timeoutMs: Number.POSITIVE_INFINITY } as const;

async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GrpcError && error.code === grpcCodes.notFound) return undefined;
    throw error;
  }
}

function filterOf(podUid: string | undefined) {
  return podUid === undefined ? {} : { filter: { labelSelector: { [runtimeLabels.podUid]: podUid } } };
}

/** A runtime that speaks version 1 of the container runtime interface. */
export class CriRuntime implements ContainerRuntime {
  /** Lists of everything are asked for every second. */
  private readonly allSandboxes = new RememberedList(1, sandboxes.stateFieldOfSandbox, sandboxes.sandbox);
  private readonly allContainers = new RememberedList(1, containers.stateFieldOfContainer, containers.container);

  private constructor(
    private readonly runtime: GrpcConnection,
    private readonly images: GrpcConnection,
  ) {}

  /** Does not wait until the runtime is available. */
  static async open(endpoint: string, imageEndpoint: string, timeoutMs: number): Promise<CriRuntime> {
    return new CriRuntime(
      await GrpcConnection.open(endpoint, 'runtime.v1.RuntimeService', timeoutMs),
      await GrpcConnection.open(imageEndpoint, 'runtime.v1.ImageService', timeoutMs),
    );
  }

  version() {
    return this.runtime.call('Version', images.versionRequest, images.versionResponse, { version: 'v1' });
  }

  status() {
    return this.runtime.call('Status', images.statusRequest, images.statusResponse, {});
  }

  async cgroupDriver(): Promise<CgroupDriver | undefined> {
    const answer = await this.runtime
      .call('RuntimeConfig', sandboxes.empty, images.runtimeConfigResponse, {})
      .catch((error: unknown) => {
        if (error instanceof GrpcError && error.code === grpcCodes.unimplemented) return undefined;
        throw error;
      });
    if (answer?.linux === undefined) return undefined;
    return answer.linux.cgroupDriver === images.systemdDriver ? 'systemd' : 'cgroupfs';
  }

  async setPodCidr(podCidr: string): Promise<void> {
    const runtimeConfig = { networkConfig: { podCidr } };
    await this.runtime.call('UpdateRuntimeConfig', images.updateRuntimeConfigRequest, sandboxes.empty, {
      runtimeConfig,
    });
  }

  async listSandboxes(podUid?: string): Promise<readonly sandboxes.Sandbox[]> {
    const { listSandboxesRequest, listSandboxesResponse } = sandboxes;
    if (podUid === undefined) return this.runtime.call('ListPodSandbox', listSandboxesRequest, this.allSandboxes, {});
    const request = filterOf(podUid);
    return (await this.runtime.call('ListPodSandbox', listSandboxesRequest, listSandboxesResponse, request)).items;
  }

  async sandboxStatus(id: string) {
    const { idMessage, sandboxStatusResponse } = sandboxes;
    const answer = await unlessGone(this.runtime.call('PodSandboxStatus', idMessage, sandboxStatusResponse, { id }));
    return answer?.status;
  }

  async runSandbox(config: sandboxes.SandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string> {
    const request = { config, runtimeHandler };
    const { runSandboxRequest, idMessage } = sandboxes;
    return (
      await this.runtime.call('RunPodSandbox', runSandboxRequest, idMessage, request, { timeoutMs: 240_000, signal })
    ).id;
  }

  async stopSandbox(id: string): Promise<void> {
    await unlessGone(this.runtime.call('StopPodSandbox', sandboxes.idMessage, sandboxes.empty, { id }));
  }

  async removeSandbox(id: string): Promise<void> {
    await unlessGone(this.runtime.call('RemovePodSandbox', sandboxes.idMessage, sandboxes.empty, { id }));
  }

  async listContainers(podUid?: string): Promise<readonly containers.Container[]> {
    const { listContainersRequest, listContainersResponse } = containers;
    if (podUid === undefined) return this.runtime.call('ListContainers', listContainersRequest, this.allContainers, {});
    const request = filterOf(podUid);
    return (await this.runtime.call('ListContainers', listContainersRequest, listContainersResponse, request))
      .containers;
  }

  async containerStatus(id: string) {
    const { containerStatusResponse } = containers;
    const request = this.runtime.call('ContainerStatus', sandboxes.idMessage, containerStatusResponse, { id });
    return (await unlessGone(request))?.status;
  }

  async createContainer(
    podSandboxId: string,
    config: containers.ContainerConfig,
    sandboxConfig: sandboxes.SandboxConfig,
  ) {
    const request = { podSandboxId, config, sandboxConfig };
    const { createContainerRequest } = containers;
    return (await this.runtime.call('CreateContainer', createContainerRequest, sandboxes.idMessage, request)).id;
  }

  async startContainer(id: string): Promise<void> {
    await this.runtime.call('StartContainer', sandboxes.idMessage, sandboxes.empty, { id });
  }

  async stopContainer(containerId: string, timeout: number): Promise<void> {
    const limits = { timeoutMs: timeout * 1000 + stopMarginMs };
    const request = { containerId, timeout };
    await unlessGone(
      this.runtime.call('StopContainer', containers.stopContainerRequest, sandboxes.empty, request, limits),
    );
  }

  async removeContainer(id: string): Promise<void> {
    await unlessGone(this.runtime.call('RemoveContainer', sandboxes.idMessage, sandboxes.empty, { id }));
  }

  async updateResources(containerId: string, linux: sandboxes.LinuxResources): Promise<void> {
    const request = { containerId, linux };
    await this.runtime.call('UpdateContainerResources', containers.updateResourcesRequest, sandboxes.empty, request);
  }

  async reopenLog(id: string): Promise<void> {
    await this.runtime.call('ReopenContainerLog', sandboxes.idMessage, sandboxes.empty, { id });
  }

  exec(containerId: string, cmd: readonly string[], timeout: number, signal?: AbortSignal) {
    const { execSyncRequest, execSyncHead } = containers;
    // The runtime enforces the timeout of the command; the call waits slightly longer.
    const timeoutMs = timeout > 0 ? timeout * 1000 + stopMarginMs : Number.POSITIVE_INFINITY;
    const call = (limits: CallLimits) =>
      this.runtime.call('ExecSync', execSyncRequest, execSyncHead, { containerId, cmd, timeout }, limits);
    if (signal === undefined) return call({ timeoutMs });
    return cancelLate((cancelled) => call({ timeoutMs, signal: cancelled }), signal);
  }

  execWhole(containerId: string, cmd: readonly string[], signal: AbortSignal) {
    const { execSyncRequest, execSyncResponse } = containers;
    const request = { containerId, cmd, timeout: 0 };
    const call = (cancelled: AbortSignal) =>
      this.runtime.call('ExecSync', execSyncRequest, execSyncResponse, request, { ...noLimit, signal: cancelled });
    return cancelLate(call, signal);
  }

  async execUrl(request: containers.ExecRequest): Promise<string> {
    return (await this.runtime.call('Exec', containers.execRequest, containers.urlResponse, request)).url;
  }

  async attachUrl(request: containers.AttachRequest): Promise<string> {
    return (await this.runtime.call('Attach', containers.attachRequest, containers.urlResponse, request)).url;
  }

  async portForwardUrl(podSandboxId: string, port: readonly number[]): Promise<string> {
    const request = { podSandboxId, port };
    return (await this.runtime.call('PortForward', containers.portForwardRequest, containers.urlResponse, request)).url;
  }

  async containerStats() {
    const { listContainerStatsRequest, listContainerStatsResponse } = images;
    const answer = await this.runtime.call(
      'ListContainerStats',
      listContainerStatsRequest,
      listContainerStatsResponse,
      {},
    );
    return answer.stats;
  }

  async sandboxStats() {
    try {
      const call = this.runtime.call('ListPodSandboxStats', sandboxes.empty, images.listSandboxStatsResponse, {});
      return (await call).stats;
    } catch (error) {
      if (error instanceof GrpcError && error.code === grpcCodes.unimplemented) return undefined;
      throw error;
    }
  }

  async listImages() {
    return (await this.images.call('ListImages', images.imageRequest, images.listImagesResponse, {})).images;
  }

  async imageStatus(image: string) {
    const request = { image: { image } };
    return (await this.images.call('ImageStatus', images.imageRequest, images.imageStatusResponse, request)).image;
  }

  async pullImage(
    image: string,
    auth: images.AuthConfig | undefined,
    sandboxConfig: sandboxes.SandboxConfig,
    signal: AbortSignal,
  ): Promise<string> {
    const request = { image: { image }, sandboxConfig, ...(auth === undefined ? {} : { auth }) };
    const limits = { ...noLimit, signal };
    const { pullImageRequest, pullImageResponse } = images;
    return (await this.images.call('PullImage', pullImageRequest, pullImageResponse, request, limits)).imageRef;
  }

  async removeImage(image: string): Promise<void> {
    await unlessGone(this.images.call('RemoveImage', images.imageRequest, sandboxes.empty, { image: { image } }));
  }

  async imageFolders(): Promise<readonly string[]> {
    const answer = await this.images.call('ImageFsInfo', sandboxes.empty, images.imageFsInfoResponse, {});
    return answer.imageFilesystems.map(({ fsId }) => fsId?.mountpoint ?? '').filter((folder) => folder !== '');
  }

  close(): void {
    this.runtime.close();
    this.images.close();
  }
}
