import { randomBytes } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { ContainerConfig, ImageSpec, Mount } from '../cri/container-messages.js';
import type { Image } from '../cri/image-messages.js';
import { runtimeAnnotations, runtimeLabels } from '../cri/labels.js';
import type { ContainerAllocation } from '../devices/device-messages.js';
import type { NodeSettings } from '../node-settings.js';
import type { PodFolders } from '../pod-folders.js';
import { type DeclaredContainer, podUid } from '../pods/pod-form.js';
import { containerDevices, containerMounts } from '../volumes/container-mounts.js';
import { makeFile } from '../volumes/inside.js';
import type { ReadyVolume } from '../volumes/pod-volumes.js';
import { ContainerConfigError } from './container-config-error.js';
import { containerEnvironment, type EnvironmentReader } from './environment.js';
import { expand } from './expand.js';
import { containerHash } from './hash.js';
import { linuxResourcesOf } from './resources.js';
import { containerSecurity } from './security.js';
import { signalNumbers } from './signals.js';
import { StartSize } from './start-size.js';

export interface ContainerInput {
  readonly pod: Pod;
  readonly declared: DeclaredContainer;
  readonly image: Image;
  readonly imageRef: string;
  readonly restartCount: number;
  readonly podIPs: readonly string[];
  /** The run whose processes an ephemeral container sees. */
  readonly targetId: string | undefined;
  readonly volumes: ReadonlyMap<string, ReadyVolume>;
  /** Images that are volumes of the container, by the names of the volumes. */
  readonly imageVolumes: ReadonlyMap<string, ImageSpec>;
  /** What the container gets with its devices. */
  readonly allocations: readonly ContainerAllocation[];
  readonly objects: EnvironmentReader;
  readonly services: ReadonlyMap<string, string>;
  readonly settings: NodeSettings;
  readonly folders: PodFolders;
}

/**
 * The configuration of a container for the runtime. Makes the files that the container needs. @throws
 * ContainerConfigError
 */
export async function containerConfigOf(input: ContainerInput): Promise<ContainerConfig> {
  const { pod, declared, settings, folders } = input;
  const container = declared.container as Container;
  const size = new StartSize();
  const environment = await containerEnvironment({
    ...input,
    container,
    size,
    hostIPs: settings.hostIPs(),
    allocatable: settings.allocatable(),
  });
  const lookUp = (name: string) => environment.get(name);
  const { volumes, imageVolumes: images } = input;
  const mounts = await containerMounts({ pod, container, volumes, images, environment, folders });
  const wanted = new Set((container.volumeMounts ?? []).map(({ mountPath }) => mountPath));
  if (!wanted.has('/etc/hosts')) mounts.push({ containerPath: '/etc/hosts', hostPath: folders.hosts(podUid(pod)) });
  const messagePath = container.terminationMessagePath || '/dev/termination-log';
  if (!wanted.has(messagePath)) mounts.push(await messageMount(input, messagePath));
  const { allocations } = input;
  mounts.push(...allocations.flatMap((each) => each.mounts ?? []));
  for (const { hostPath } of mounts) if (hostPath !== undefined) await makeMissing(hostPath);
  const restarts = String(input.restartCount);
  await fs.mkdir(
    join(folders.podLogs(pod.metadata.namespace ?? '', pod.metadata.name ?? '', podUid(pod)), container.name),
    {
      recursive: true,
      mode: 0o755,
    },
  );
  return {
    metadata: { name: container.name, attempt: input.restartCount },
    image: { image: input.imageRef, userSpecifiedImage: container.image ?? '' },
    command: (container.command ?? []).map((text) => expand(text, lookUp, size)),
    args: (container.args ?? []).map((text) => expand(text, lookUp, size)),
    workingDir: container.workingDir ?? '',
    // The settings of the pod itself come last and so take precedence.
    envs: [...allocations.flatMap(({ envs }) => Object.entries(envs ?? {})), ...environment].map(([key, value]) => ({
      key,
      value: Buffer.from(value),
    })),
    mounts,
    devices: [...containerDevices({ container, volumes }), ...allocations.flatMap((each) => each.devices ?? [])],
    cdiDevices: allocations.flatMap((each) => each.cdiDevices ?? []),
    labels: labelsOf(pod, container),
    annotations: {
      ...Object.fromEntries(allocations.flatMap((each) => Object.entries(each.annotations ?? {}))),
      ...annotationsOf(input, messagePath),
    },
    logPath: `${container.name}/${restarts}.log`,
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: {
      resources: linuxResourcesOf(pod, container, settings),
      securityContext: containerSecurity({
        pod,
        container,
        image: input.image,
        targetId: input.targetId,
        seccompFolder: folders.seccomp,
      }),
    },
    ...(container.lifecycle?.stopSignal ? { stopSignal: signalNumbers(container.lifecycle.stopSignal) } : {}),
  };
}

function labelsOf({ metadata }: Pod, { name }: Container): Record<string, string> {
  return {
    [runtimeLabels.containerName]: name,
    [runtimeLabels.podName]: metadata.name ?? '',
    [runtimeLabels.podNamespace]: metadata.namespace ?? '',
    [runtimeLabels.podUid]: metadata.uid ?? '',
  };
}

function annotationsOf({ pod, declared, restartCount }: ContainerInput, messagePath: string): Record<string, string> {
  const { container } = declared;
  const { terminationGracePeriodSeconds: grace } = pod.spec;
  const { deletionGracePeriodSeconds: deletionGrace } = pod.metadata;
  const preStop = container.lifecycle?.preStop;
  return {
    [runtimeAnnotations.hash]: containerHash(declared),
    [runtimeAnnotations.restartCount]: String(restartCount),
    [runtimeAnnotations.terminationMessagePath]: messagePath,
    [runtimeAnnotations.terminationMessagePolicy]: container.terminationMessagePolicy ?? 'File',
    ...(grace === undefined || grace === null ? {} : { [runtimeAnnotations.podGracePeriod]: String(grace) }),
    ...(deletionGrace ? { [runtimeAnnotations.podDeletionGracePeriod]: String(deletionGrace) } : {}),
    ...(preStop ? { [runtimeAnnotations.preStopHandler]: JSON.stringify({ lifecycle: { preStop } }) } : {}),
    ...(container.ports?.length ? { [runtimeAnnotations.ports]: JSON.stringify(container.ports) } : {}),
  };
}

/** The container's termination message file, emptied for each run. */
async function messageMount({ pod, declared, folders }: ContainerInput, containerPath: string): Promise<Mount> {
  const folder = folders.container(podUid(pod), declared.container.name);
  await fs.mkdir(folder, { recursive: true, mode: 0o750 });
  const hostPath = join(folder, randomBytes(4).toString('hex'));
  await makeFile(hostPath, '', 0o666);
  return { containerPath, hostPath };
}

/** A host path that does not exist is created as a folder. */
async function makeMissing(path: string): Promise<void> {
  try {
    await fs.stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    try {
      await fs.mkdir(path, { recursive: true, mode: 0o755 });
    } catch (failure) {
      throw new ContainerConfigError(`failed to create ${path} in ${dirname(path)}: ${(failure as Error).message}`);
    }
  }
}
