import type { ApiObject, ObjectMeta } from '../../machinery/api-object.js';

/** The parts of pods that admission plugins read and complete. The full declaration is in `apis/core/v1`. */
export interface AdmittedPod extends ApiObject {
  spec: AdmittedPodSpec;
}

/** An object that makes pods from a template. */
export interface PodTemplate {
  readonly metadata?: ObjectMeta;
  readonly spec: AdmittedPodSpec;
}

export interface AdmittedPodSpec {
  containers?: AdmittedContainer[];
  initContainers?: AdmittedContainer[];
  ephemeralContainers?: AdmittedContainer[];
  volumes?: AdmittedVolume[];
  securityContext?: PodSecurityContext;
  os?: { name: string };
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: boolean;
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
  affinity?: { podAntiAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: AffinityTerm[] } };
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: { name?: string }[];
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
  runtimeClassName?: string;
  overhead?: Record<string, string>;
  resources?: ContainerResources;
}

export interface AdmittedContainer {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  ports?: { readonly hostPort?: number }[];
  env?: {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name?: string; readonly key: string } };
  }[];
  envFrom?: { readonly secretRef?: { readonly name?: string } }[];
  resources?: ContainerResources;
  volumeMounts?: VolumeMount[];
  securityContext?: ContainerSecurityContext;
  livenessProbe?: HostHandler;
  readinessProbe?: HostHandler;
  startupProbe?: HostHandler;
  lifecycle?: { readonly postStart?: HostHandler; readonly preStop?: HostHandler };
}

export interface ContainerResources {
  requests?: Record<string, string>;
  limits?: Record<string, string>;
}

/** A probe or a lifecycle hook that may name a host. */
export interface HostHandler {
  readonly httpGet?: { readonly host?: string };
  readonly tcpSocket?: { readonly host?: string };
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
}

/** A volume: its name, and one field that is named after its type. */
export interface AdmittedVolume {
  name: string;
  secret?: { readonly secretName?: string };
  projected?: { readonly sources?: readonly ProjectedSource[] | null };
  image?: { pullPolicy?: string };
  readonly [type: string]: unknown;
}

/** A source of a projected volume, named by one of its fields. */
export interface ProjectedSource {
  readonly secret?: { readonly name?: string };
  readonly serviceAccountToken?: object;
  readonly [type: string]: unknown;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface AffinityTerm {
  readonly topologyKey: string;
}

/** Security settings that pods and containers share. */
export interface SharedSecurityContext {
  readonly seLinuxOptions?: { readonly user?: string; readonly role?: string; readonly type?: string };
  readonly windowsOptions?: { readonly hostProcess?: boolean };
  readonly runAsUser?: number | bigint;
  readonly runAsNonRoot?: boolean;
  readonly seccompProfile?: { readonly type: string };
  readonly appArmorProfile?: { readonly type: string };
}

export interface PodSecurityContext extends SharedSecurityContext {
  readonly fsGroup?: unknown;
  readonly supplementalGroups?: readonly unknown[];
  readonly sysctls?: readonly { readonly name: string }[];
}

export interface ContainerSecurityContext extends SharedSecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly procMount?: string;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
}

/** All containers of a pod in the order they are started: init containers, containers, ephemeral ones. */
export function* containersOf(spec: AdmittedPodSpec): Generator<AdmittedContainer> {
  yield* spec.initContainers ?? [];
  yield* spec.containers ?? [];
  yield* spec.ephemeralContainers ?? [];
}
