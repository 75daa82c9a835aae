import type {
  AttachRequest,
  Container,
  ContainerConfig,
  ContainerStatus,
  ExecRequest,
  ExecResult,
} from './container-messages.js';
import type {
  AuthConfig,
  ContainerStats,
  Image,
  RuntimeStatus,
  RuntimeVersion,
  SandboxStats,
} from './image-messages.js';
import type { LinuxResources, Sandbox, SandboxConfig, SandboxStatus } from './sandbox-messages.js';

export type CgroupDriver = 'systemd' | 'cgroupfs';

/**
 * The container runtime as the agent uses it. All calls throw a {@link GrpcError}. Stopping or removing what no longer
 * exists succeeds.
 */
export interface ContainerRuntime {
  version(): Promise<RuntimeVersion>;
  status(): Promise<RuntimeStatus>;
  /** How the runtime makes cgroups; undefined for runtimes that don't say. */
  cgroupDriver(): Promise<CgroupDriver | undefined>;
  setPodCidr(podCidr: string): Promise<void>;

  /** @param podUid restricts the list to this pod */
  listSandboxes(podUid?: string): Promise<readonly Sandbox[]>;
  sandboxStatus(id: string): Promise<SandboxStatus | undefined>;
  runSandbox(config: SandboxConfig, handler: string, signal: AbortSignal): Promise<string>;
  stopSandbox(id: string): Promise<void>;
  removeSandbox(id: string): Promise<void>;

  listContainers(podUid?: string): Promise<readonly Container[]>;
  containerStatus(id: string): Promise<ContainerStatus | undefined>;
  createContainer(sandboxId: string, config: ContainerConfig, sandbox: SandboxConfig): Promise<string>;
  startContainer(id: string): Promise<void>;
  /** Asks the container to end, and kills it after the grace period. Resolves when it has ended. */
  stopContainer(id: string, graceSeconds: number): Promise<void>;
  removeContainer(id: string): Promise<void>;
  updateResources(id: string, resources: LinuxResources): Promise<void>;
  reopenLog(id: string): Promise<void>;
  /**
   * Runs a command to its end; a timeout of 0 means no limit. The result has the first 10 KiB of each output, however
   * much the command has written. An abort rejects at once; a command that starts just then may run for a while.
   */
  exec(id: string, command: readonly string[], timeoutSeconds: number, signal?: AbortSignal): Promise<ExecResult>;
  /** The same without a limit of time, and with all the output that the runtime sends, which may be 16 MiB. */
  execWhole(id: string, command: readonly string[], signal: AbortSignal): Promise<ExecResult>;
  /** The address of a stream on the runtime's own server, valid for one use. */
  execUrl(request: ExecRequest): Promise<string>;
  attachUrl(request: AttachRequest): Promise<string>;
  portForwardUrl(sandboxId: string, ports: readonly number[]): Promise<string>;
  containerStats(): Promise<readonly ContainerStats[]>;
  /** Undefined for runtimes that have none. */
  sandboxStats(): Promise<readonly SandboxStats[] | undefined>;

  listImages(): Promise<readonly Image[]>;
  imageStatus(image: string): Promise<Image | undefined>;
  /** Returns the reference of the pulled image. */
  pullImage(image: string, auth: AuthConfig | undefined, sandbox: SandboxConfig, signal: AbortSignal): Promise<string>;
  removeImage(id: string): Promise<void>;
  /** Mount points of the file systems that hold images. */
  imageFolders(): Promise<readonly string[]>;

  close(): void;
}
