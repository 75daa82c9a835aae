import { inTurns } from '../../base/machinery/turns.js';
import type { ApiServiceIndex } from './api-service-index.js';
import type { BackendDependencies } from './backend-call.js';
import { ExtensionBackend } from './extension-backend.js';
import type { IdentityFields } from './identity-fields.js';
import type { RemoteApi, RemoteApiService } from './known-api-service.js';
import { RemoteDocument } from './remote-document.js';
import { type RemoteResource, readResourceList } from './remote-resources.js';
import { type SwaggerParts, swaggerOf } from './swagger-merge.js';

/** The connections to the server of a group version, and the documents that it publishes. */
export interface KnownBackend {
  readonly backend: ExtensionBackend;
  readonly resources: RemoteDocument<readonly RemoteResource[]>;
  readonly swagger: RemoteDocument<SwaggerParts>;
  /** Path and query of the server's OpenAPI 3.0 document; empty if it has none. */
  readonly openApi3: RemoteDocument<string>;
}

const maxListBytes = 2 * 1024 * 1024;
const maxSwaggerBytes = 4 * 1024 * 1024;

/** The extension servers that a process knows, and its connections to them. */
export class Aggregation {
  private readonly known = new Map<string, { readonly key: string; readonly backend: KnownBackend }>();
  private seen = -1;

  constructor(
    readonly services: ApiServiceIndex,
    private readonly dependencies: BackendDependencies,
    private readonly logger: { warn(text: string, fields?: object): void },
  ) {}

  /** The header fields that may name a user to another server. */
  identity(): Promise<IdentityFields> {
    return this.dependencies.identity.get();
  }

  backendOf(service: RemoteApiService): ExtensionBackend {
    return this.of(service).backend;
  }

  /** The cached state for the server of a group version; rebuilt when its address or its certificates change. */
  of(service: RemoteApiService): KnownBackend {
    this.forgetRemoved();
    const { name, remote } = service;
    const key = keyOf(remote);
    const held = this.known.get(name);
    if (held?.key === key) return held.backend;
    held?.backend.backend.retire();
    const backend = this.make(service);
    this.known.set(name, { key, backend });
    return backend;
  }

  private make({ name, group, version, remote }: RemoteApiService): KnownBackend {
    const backend = new ExtensionBackend(remote, this.dependencies);
    const onFault = (error: unknown) =>
      this.logger.warn('could not read a document of an extension server', { apiService: name, error });
    const path = `/apis/${group}/${version}`;
    const read = (value: unknown) => readResourceList(value, group, version);
    const readSwagger = (value: unknown) => inTurns(swaggerOf(value, group, version));
    const readIndex = (value: unknown) => documentIn(value, path);
    return {
      backend,
      resources: new RemoteDocument(backend, { path, maxBytes: maxListBytes, read, onFault }),
      swagger: new RemoteDocument(backend, {
        path: '/openapi/v2',
        maxBytes: maxSwaggerBytes,
        read: readSwagger,
        onFault,
      }),
      openApi3: new RemoteDocument(backend, { path: '/openapi/v3', maxBytes: maxListBytes, read: readIndex, onFault }),
    };
  }

  private forgetRemoved(): void {
    if (this.seen === this.services.changes) return;
    this.seen = this.services.changes;
    const names = new Set(this.services.remotes().map(({ name }) => name));
    for (const [name, { backend }] of this.known) {
      if (names.has(name)) continue;
      backend.backend.retire();
      this.known.delete(name);
    }
  }
}

function keyOf({ namespace, service, port, insecureSkipTLSVerify, caBundle }: RemoteApi): string {
  return JSON.stringify([namespace, service, port, insecureSkipTLSVerify, caBundle]);
}

/**
 * The URL of a group version's document, from an index of OpenAPI 3.0 documents; empty if the index has none. A URL
 * with an unexpected path is not used.
 */
function documentIn(value: unknown, path: string): string {
  const { paths } = (value ?? {}) as { paths?: Record<string, { serverRelativeURL?: unknown } | undefined> };
  if (typeof paths !== 'object' || paths === null) throw new Error('the response is not an index of documents');
  const found = Object.hasOwn(paths, path.slice(1)) ? paths[path.slice(1)]?.serverRelativeURL : undefined;
  const own = `/openapi/v3${path}`;
  if (typeof found !== 'string') return '';
  return found === own || (found.startsWith(`${own}?`) && /^[\x21-\x7e]{1,512}$/.test(found)) ? found : own;
}
