import { errorText } from '../../base/machinery/startup-error.js';
import type { ContainerRuntime } from './cri/container-runtime.js';
import type { Image, RuntimeStatus, RuntimeVersion } from './cri/image-messages.js';

/** Images are listed again after this time. */
const imagesMs = 60_000;

/** No sandbox could be made: such a runtime expects names of systemd's slices. */
const otherDriver =
  'the container runtime makes cgroups by systemd, and this node agent by cgroupfs: for containerd, set ' +
  'SystemdCgroup = false in its configuration';

/** The state of the runtime as the agent knows it, and whether it can run pods. */
export class RuntimeHealth {
  version: RuntimeVersion | undefined;
  status: RuntimeStatus | undefined;
  images: readonly Image[] = [];
  private imagesAt = Number.NEGATIVE_INFINITY;
  private listProblem: string | undefined;
  private driverProblem: string | undefined;
  private statusProblem: string | undefined = 'container runtime status check may not have completed yet';

  constructor(private readonly runtime: ContainerRuntime) {}

  get name(): string {
    return this.version?.runtimeName ?? 'containerd';
  }

  /** The result of listing the runtime: whether it responds. */
  listed(error: unknown): void {
    this.listProblem = error === undefined ? undefined : `PLEG is not healthy: ${errorText(error)}`;
  }

  /** @param now milliseconds since any fixed time */
  async look(now: number): Promise<void> {
    try {
      if (this.version === undefined) {
        const driver = await this.runtime.cgroupDriver();
        this.driverProblem = driver === 'systemd' ? otherDriver : undefined;
        this.version = await this.runtime.version();
      }
      this.status = await this.runtime.status();
      this.statusProblem = undefined;
      if (now >= this.imagesAt + imagesMs) {
        this.images = await this.runtime.listImages();
        this.imagesAt = now;
      }
    } catch (error) {
      this.version = undefined;
      this.statusProblem = `container runtime is down: ${errorText(error)}`;
    }
  }

  /** Why no pods can run; empty if they can. */
  problems(): string[] {
    const found = [this.statusProblem, this.driverProblem, this.listProblem].filter(
      (each): each is string => each !== undefined,
    );
    if (found.length > 0) return found;
    return (this.status?.status?.conditions ?? [])
      .filter(({ status }) => !status)
      .map(({ type, reason, message }) => {
        const what = type === 'NetworkReady' ? 'container runtime network not ready' : 'container runtime not ready';
        return `${what}: ${type}=false reason:${reason} message:${message}`;
      });
  }
}
