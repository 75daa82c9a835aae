import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Container, EphemeralContainer } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';
import type { EnvironmentReader } from '../containers/environment.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { Image } from '../cri/image-messages.js';
import type { SandboxConfig } from '../cri/sandbox-messages.js';
import { grpcCodes } from '../grpc/grpc-connection.js';
import { GrpcError } from '../grpc/grpc-error.js';
import { BackOff } from '../pods/back-off.js';
import { imageNameProblem, parseImageName } from './image-names.js';
import { pullCredentials } from './pull-secrets.js';
import { StartFailure } from './start-failure.js';

export interface PullRequest {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly sandbox: SandboxConfig;
  readonly signal: AbortSignal;
  readonly event: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
}

/** An image on the machine, and the reference with which containers are created from it. */
export interface PresentImage {
  readonly image: Image;
  readonly ref: string;
}

/** Pulls images by the pull policies of containers, one at a time unless parallel pulls are allowed. */
export class ImagePuller {
  private readonly backOff = new BackOff(10_000, 300_000);
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly runtime: ContainerRuntime,
    private readonly objects: EnvironmentReader,
    private readonly timers: Timers,
    private readonly oneByOne: boolean,
  ) {}

  /** @throws StartFailure with the reason that the status of the container shows */
  async ensure(request: PullRequest): Promise<PresentImage> {
    const { container, event } = request;
    const name = container.image ?? '';
    if (parseImageName(name) === undefined) {
      const message = `Failed to apply default image tag "${name}": couldn't parse image name "${name}": ${imageNameProblem(name)}`;
      event('Warning', 'InspectFailed', message);
      throw new StartFailure({ reason: 'InvalidImageName', message });
    }
    let present: Image | undefined;
    try {
      present = await this.runtime.imageStatus(name);
    } catch (error) {
      const message = `Failed to inspect image "${name}": ${(error as Error).message}`;
      event('Warning', 'InspectFailed', message);
      throw new StartFailure({ reason: 'ImageInspectError', message });
    }
    if (present !== undefined && container.imagePullPolicy !== 'Always') {
      event('Normal', 'Pulled', `Container image "${name}" already present on machine and can be accessed by the pod`);
      return { image: present, ref: present.id };
    }
    if (container.imagePullPolicy === 'Never') {
      const message = `Container image "${name}" is not present with pull policy of Never`;
      event('Warning', 'ErrImageNeverPull', message);
      throw new StartFailure({ reason: 'ErrImageNeverPull', message });
    }
    return this.pull(request, name);
  }

  private async pull(request: PullRequest, name: string): Promise<PresentImage> {
    const { pod, event } = request;
    const key = `${pod.metadata.uid} ${name}`;
    const now = this.timers.now();
    const failed = this.failures.get(key);
    const until = failed === undefined ? undefined : this.backOff.endAfter(key, failed.at);
    if (failed !== undefined && until !== undefined && until > now) {
      event('Normal', 'BackOff', `Back-off pulling image "${name}"`);
      const message = `Back-off pulling image "${name}": ${failed.message}`;
      throw new StartFailure({ reason: 'ImagePullBackOff', message }, until);
    }
    event('Normal', 'Pulling', `Pulling image "${name}"`);
    const began = this.timers.elapsed();
    let waited = began;
    try {
      const ref = await this.inTurn(() => {
        waited = this.timers.elapsed();
        return this.fetch(request, name);
      });
      const image = await this.runtime.imageStatus(ref);
      if (image === undefined) throw new Error('the image is gone again');
      const ended = this.timers.elapsed();
      const times = `${seconds(ended - waited)} (${seconds(ended - began)} including waiting)`;
      event('Normal', 'Pulled', `Successfully pulled image "${name}" in ${times}. Image size: ${image.size} bytes.`);
      this.failures.delete(key);
      return { image, ref: image.id };
    } catch (error) {
      request.signal.throwIfAborted();
      const why = pullProblem(error);
      const message = `ErrImagePull: ${why}`;
      event('Warning', 'Failed', `Failed to pull image "${name}": ${why}`);
      this.backOff.next(key, this.timers.now());
      this.failures.set(key, { at: this.timers.now(), message });
      throw new StartFailure({ reason: 'ErrImagePull', message: why }, this.timers.now());
    }
  }

  private readonly failures = new Map<string, { readonly at: number; readonly message: string }>();

  private async fetch({ pod, sandbox, signal }: PullRequest, name: string): Promise<string> {
    const secrets: Secret[] = [];
    for (const { name: secret } of pod.spec.imagePullSecrets ?? []) {
      const found = secret && (await this.objects.secret(pod.metadata.namespace ?? '', secret).catch(() => undefined));
      if (found) secrets.push(found);
    }
    const attempts = [...pullCredentials(name, secrets), undefined];
    let failure: unknown;
    for (const auth of attempts) {
      try {
        return await this.runtime.pullImage(name, auth, sandbox, signal);
      } catch (error) {
        failure ??= error;
        signal.throwIfAborted();
      }
    }
    throw failure;
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (!this.oneByOne) return work();
    const turn = this.last.then(work, work);
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** Forgets a pod. */
  forget(uid: string): void {
    this.backOff.forget(`${uid} `);
    for (const key of this.failures.keys()) if (key.startsWith(`${uid} `)) this.failures.delete(key);
  }
}

/** The message leaves out a gRPC status that says nothing. */
function pullProblem(error: unknown): string {
  return error instanceof GrpcError && error.code === grpcCodes.unknown ? error.detail : errorText(error);
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)}ms` : `${(milliseconds / 1000).toFixed(3)}s`;
}
