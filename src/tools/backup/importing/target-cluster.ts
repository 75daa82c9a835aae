import type { ApiObject } from '../../../base/machinery/api-object.js';
import { ApiFault } from '../cluster/api-fault.js';
import { type ClusterClient } from '../cluster/cluster-client.js';
import { collectionPath } from '../cluster/collection-path.js';
import { servedKinds } from '../cluster/kinds.js';
import type { ServedKind } from '../cluster/served-kind.js';
import { type BackupSection, resourceName } from '../format/lines.js';
import { plainKind } from '../recreate/creation-order.js';

/** The field manager of the writes of an import. */
export const importer = 'plinth-import';
/** The field manager of the status: it shows whether an object has received its status. */
export const statusImporter = 'plinth-import-status';

/** An object that the cluster has. */
export interface Present {
  readonly uid: string;
  /** An import created the object, but did not write its status. */
  readonly lacksStatus: boolean;
}

/** Objects of a kind that the cluster has, by `<namespace>/<name>`; undefined when the user may not list them. */
export type PresentObjects = ReadonlyMap<string, Present> | undefined;

const pageSize = 1000;
const onlyMetadata = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;q=0.5';
const mostTries = 5;
const firstPauseMs = 100;

/** Matches the error for a field that another version of the cluster does not know. */
const unknownField = /unknown field|strict decoding error/;

/** The cluster that objects are brought to. */
export class TargetCluster {
  private kinds: ReadonlyMap<string, ServedKind> = new Map();

  constructor(
    readonly client: ClusterClient,
    private readonly pause: (ms: number, signal: AbortSignal) => Promise<void>,
    private readonly signal: AbortSignal,
  ) {}

  /** Queries the kinds of the cluster. Must be called first, and again after new kinds were defined. */
  async learnKinds(): Promise<void> {
    const { kinds } = await servedKinds(this.client, this.signal, true);
    const byName = new Map<string, ServedKind>();
    // The version in the backup is preferred if it is served; otherwise the one listed first.
    for (const kind of kinds) {
      byName.set(`${resourceName(kind)}/${kind.apiVersion}`, kind);
      if (!byName.has(resourceName(kind))) byName.set(resourceName(kind), kind);
    }
    this.kinds = byName;
  }

  /** The kind of a section as this cluster serves it, possibly in another version. */
  kindOf(section: BackupSection): ServedKind | undefined {
    const name = resourceName(section);
    const kind = this.kinds.get(`${name}/${section.apiVersion}`) ?? this.kinds.get(name);
    return kind?.kind === section.kind && kind.namespaced === section.namespaced ? kind : undefined;
  }

  /** The objects of a kind in the cluster. */
  async present(kind: ServedKind): Promise<PresentObjects> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.listPresent(kind);
      } catch (error) {
        if (!(error instanceof ApiFault)) throw error;
        if (error.status === 410 && tries < mostTries) continue;
        if ([403, 404, 405].includes(error.status)) return undefined;
        throw error;
      }
    }
  }

  private async listPresent(kind: ServedKind): Promise<ReadonlyMap<string, Present>> {
    const found = new Map<string, Present>();
    let token = '';
    do {
      const query = `?limit=${pageSize}${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`;
      const onItem = async (item: Buffer) => {
        const { metadata } = JSON.parse(item.toString('utf8')) as ApiObject;
        found.set(objectKeyOf(metadata), presentOf(metadata));
      };
      token =
        (await this.client.list(`${collectionPath(kind)}${query}`, this.signal, onItem, onlyMetadata)).continue ?? '';
    } while (token !== '');
    return found;
  }

  /**
   * Creates an object.
   *
   * @returns the object as the server made it, and whether fields that it does not know were dropped
   * @throws ApiFault when the server refuses it
   */
  async create(kind: ServedKind, object: ApiObject, dryRun: boolean): Promise<{ made: ApiObject; dropped: string }> {
    const path = collectionPath(kind, object.metadata.namespace);
    const send = (validation: string) => this.write('POST', path, object, importer, validation, dryRun);
    for (let tries = 1; ; tries++) {
      try {
        return { made: await send('Strict'), dropped: '' };
      } catch (error) {
        if (!(error instanceof ApiFault)) throw error;
        if (unknownField.test(error.message)) return { made: await send('Warn'), dropped: error.message };
        // A custom kind that was just defined need not be served everywhere yet.
        const isNew = error.status === 404 && kind.apiVersion.includes('.') && !/namespaces/.test(error.message);
        if (dryRun || !isNew || tries === 3 * mostTries) throw error;
        await this.pause(firstPauseMs * tries, this.signal);
      }
    }
  }

  /** The live object. @throws ApiFault */
  get(kind: ServedKind, { namespace, name = '' }: ApiObject['metadata']): Promise<ApiObject> {
    return this.client.send<ApiObject>('GET', `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`, {
      signal: this.signal,
    });
  }

  /**
   * Writes an object over the live one; retries when others write at the same time.
   *
   * @param part the part of it that is written
   * @param merge makes the object to write from the live one
   * @param known the live object, if it is known
   * @throws ApiFault when the server refuses it
   */
  async replace(
    kind: ServedKind,
    metadata: ApiObject['metadata'],
    { part, merge, known }: { part: 'object' | 'status'; merge: (live: ApiObject) => ApiObject; known?: ApiObject },
  ): Promise<ApiObject> {
    const path = `${collectionPath(kind, metadata.namespace)}/${encodeURIComponent(metadata.name ?? '')}`;
    let live = known ?? (await this.get(kind, metadata));
    for (let tries = 1; ; tries++) {
      try {
        const isStatus = part === 'status';
        const manager = isStatus ? statusImporter : importer;
        return await this.write('PUT', isStatus ? `${path}/status` : path, merge(live), manager, 'Warn', false);
      } catch (error) {
        if (!(error instanceof ApiFault && error.status === 409) || tries === mostTries) throw error;
        await this.pause(firstPauseMs * tries, this.signal);
        live = await this.get(kind, metadata);
      }
    }
  }

  /** Waits until a definition is established, or for as long as that may take. Returns whether it is. */
  async established(kind: ServedKind, name: string): Promise<boolean> {
    for (let tries = 1; tries <= 100; tries++) {
      const { status } = await this.get(kind, { name });
      const { conditions } = (status ?? {}) as { conditions?: readonly { type?: unknown; status?: unknown }[] };
      if (conditions?.some((one) => one.type === 'Established' && one.status === 'True') === true) return true;
      await this.pause(300, this.signal);
    }
    return false;
  }

  /** Waits before the cluster is queried again. */
  rest(): Promise<void> {
    return this.pause(500, this.signal);
  }

  private write(
    method: string,
    path: string,
    body: ApiObject,
    manager: string,
    validation: string,
    dryRun: boolean,
  ): Promise<ApiObject> {
    const query = `fieldManager=${manager}&fieldValidation=${validation}${dryRun ? '&dryRun=All' : ''}`;
    return this.client.send<ApiObject>(method, `${path}?${query}`, { body, signal: this.signal });
  }
}

/** `<namespace>/<name>` */
export function objectKeyOf({ namespace = '', name = '' }: ApiObject['metadata']): string {
  return `${namespace}/${name}`;
}

/** Whether the cluster has definitions of kinds under this name. */
export function isDefinitions({ apiVersion, kind }: Pick<BackupSection, 'apiVersion' | 'kind'>): boolean {
  return plainKind(apiVersion, kind) === 'apiextensions/CustomResourceDefinition';
}

function presentOf({ uid = '', managedFields = [] }: ApiObject['metadata']): Present {
  const managers = managedFields.map(({ manager }) => manager);
  return { uid, lacksStatus: managers.includes(importer) && !managers.includes(statusImporter) };
}
