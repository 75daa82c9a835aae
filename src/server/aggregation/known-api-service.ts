import type { ApiObject } from '../../base/machinery/api-object.js';
import type { APIService } from '../../objects/apis/apiregistration/v1/api-service.types.js';

/** Where another server serves a group version, and how that server is verified. */
export interface RemoteApi {
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  /** PEM in base64; empty: the CA certificates of the host. */
  readonly caBundle: string;
  readonly insecureSkipTLSVerify: boolean;
}

/** The data of an APIService that a process keeps. */
export interface KnownApiService {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Undefined: this server serves the group version. */
  readonly remote: RemoteApi | undefined;
  /** Whether the condition Available is True. */
  readonly isAvailable: boolean;
  /** The reason of that condition; empty before the first check. */
  readonly reason: string;
}

/** A group version that another server serves. */
export interface RemoteApiService extends KnownApiService {
  readonly remote: RemoteApi;
}

/** Reduces an APIService to the data that requests need. */
export function knownApiService(object: ApiObject): KnownApiService {
  const { metadata, spec, status } = object as ApiObject & APIService;
  const { service } = spec;
  const available = status?.conditions?.find(({ type }) => type === 'Available');
  return {
    name: metadata.name ?? '',
    group: spec.group ?? '',
    version: spec.version ?? '',
    groupPriority: spec.groupPriorityMinimum,
    versionPriority: spec.versionPriority,
    remote: service && {
      namespace: service.namespace ?? '',
      service: service.name ?? '',
      port: service.port ?? 443,
      caBundle: spec.caBundle ?? '',
      insecureSkipTLSVerify: spec.insecureSkipTLSVerify ?? false,
    },
    isAvailable: available?.status === 'True',
    reason: available?.reason ?? '',
  };
}

export function isRemote(service: KnownApiService): service is RemoteApiService {
  return service.remote !== undefined;
}
