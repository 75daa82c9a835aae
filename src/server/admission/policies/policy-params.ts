import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource, parseApiVersion } from '../../../base/machinery/group-version.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { labelSelectorFromObject } from '../../../base/machinery/label-selector.js';
import { eachInSteps, inTurns } from '../../../base/machinery/turns.js';
import type {
  ParamKind,
  ParamRef,
} from '../../../objects/apis/admissionregistration/v1/admission-policy-param.types.js';
import type { LaterLister, ReadLister, SharedListers } from '../../../objects/registry/informers/shared-listers.js';
import type { ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry, ServedResource } from '../../../objects/registry/resource-registry.js';
import { toServed } from '../../../objects/registry/store/object-codec.js';
import type { ObjectReader } from '../../../objects/registry/store/storage-reader.js';

/** The parameters of a policy for one request. */
export type FoundParams =
  /**
   * The policy is evaluated once per entry. Each entry returns a parameter; undefined if the policy has no parameters.
   */
  | { readonly params: readonly (() => ApiObject | undefined)[] }
  /** The binding does not apply, since no parameter was found and the binding allows that. */
  | { readonly params: 'skip' }
  /** `isOfPolicy`: the fault is that of the policy, whatever its binding. */
  | { readonly fault: string; readonly isOfPolicy?: boolean };

interface Known extends LaterLister<ApiObject> {
  /** Time of the last use, in milliseconds from a fixed point. */
  usedAt: number;
  /** Maps each object of the lister to the object in the version that the policy expects. */
  readonly served: WeakMap<ApiObject, ApiObject>;
}

/** Parameters of a kind that no request used for this long are dropped when a request needs another kind. */
const idleMs = 10 * 60_000;

/**
 * Finds the parameters of policies. Objects of a parameter kind are kept in memory from the first request that needs
 * them until the kind is changed or removed, or no request has needed them for a while.
 */
export class PolicyParams {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly listers: Pick<SharedListers, 'later'>,
    private readonly registry: Pick<ResourceRegistry, 'findKind' | 'onChange'>,
    private readonly objects: ObjectReader,
    private readonly now: () => number = () => performance.now(),
  ) {
    registry.onChange(({ before }) => {
      for (const { version } of before?.versions ?? []) this.drop(keyOf(before as ResourceDefinition, version));
    });
  }

  /**
   * The parameters that a binding names, in the version of the policy's `paramKind`. `namespace` is that of the
   * request. Only the first request with a parameter kind has to wait.
   */
  async find(kind: ParamKind | undefined, ref: ParamRef | undefined, namespace: string): Promise<FoundParams> {
    if (kind === undefined || ref === undefined) return { params: [() => undefined] };
    const resource = this.resourceOf(kind);
    if (resource === undefined) {
      return {
        fault: `failed to find resource referenced by paramKind: '${kind.apiVersion}, Kind=${kind.kind}'`,
        isOfPolicy: true,
      };
    }
    const { namespaced } = resource.definition;
    const { name = '', namespace: own = '', selector } = ref;
    if (!namespaced && own !== '')
      return { fault: 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`' };
    const where = namespaced ? own || namespace : '';
    if (namespaced && where === '') {
      return { fault: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources' };
    }
    const known = this.listerOf(resource);
    await known.filled;
    // The lister was dropped meanwhile: the kind was changed or removed.
    if (this.known.get(keyOf(resource.definition, resource.served.version)) !== known) {
      return this.find(kind, ref, namespace);
    }
    const found =
      name === ''
        ? await selected(known.lister, where, selector as SelectorObject)
        : await this.named(resource, known.lister, where, name);
    if (found.length > 0) return { params: found.map((object) => () => served(known, resource, object)) };
    if (ref.parameterNotFoundAction === 'Deny') {
      return { fault: 'no params found for policy binding with `Deny` parameterNotFoundAction' };
    }
    return { params: 'skip' };
  }

  private resourceOf({ apiVersion = '', kind = '' }: ParamKind): ServedResource | undefined {
    const version = parseApiVersion(apiVersion);
    if (version === undefined) return undefined;
    const found = this.registry.findKind(version.group, version.version, kind);
    return found?.definition.type === 'virtual' ? undefined : found;
  }

  private listerOf({ definition, served: { version } }: ServedResource): Known {
    const key = keyOf(definition, version);
    const usedAt = this.now();
    const known = this.known.get(key);
    if (known !== undefined) {
      known.usedAt = usedAt;
      return known;
    }
    for (const [other, { usedAt: before }] of this.known) if (usedAt - before > idleMs) this.drop(other);
    const made = { ...this.listers.later<ApiObject>(definition, (object) => object), served: new WeakMap(), usedAt };
    this.known.set(key, made);
    return made;
  }

  private drop(key: string): void {
    this.known.get(key)?.stop();
    this.known.delete(key);
  }

  /** Reads parameters from the store that are not in the cache: they may have just been written. */
  private async named(
    { definition }: ServedResource,
    lister: ReadLister<ApiObject>,
    namespace: string,
    name: string,
  ): Promise<readonly ApiObject[]> {
    const found = lister.get(namespace, name) ?? (await this.objects.read(definition, namespace, name));
    return found === undefined ? [] : [found];
  }
}

function keyOf(definition: ResourceDefinition, version: string): string {
  return `${formatGroupResource(definition)}/${version}`;
}

type SelectorObject = Parameters<typeof labelSelectorFromObject>[0];

/**
 * Up to this many parameters are sorted: sorting more would hold up other work, and the order only decides which of
 * several refusals is reported.
 */
const mostSorted = 5_000;

/** The selected parameters, sorted by name. Yields to other work, since there may be very many parameters. */
async function selected(
  lister: ReadLister<ApiObject>,
  namespace: string,
  selector: SelectorObject,
): Promise<readonly ApiObject[]> {
  const matches = labelSelectorFromObject(selector);
  const found: ApiObject[] = [];
  const look = (object: ApiObject) => {
    if (matches.matches(object.metadata.labels)) found.push(object);
  };
  await inTurns(eachInSteps(lister.inNamespace(namespace), look));
  if (found.length > mostSorted) return found;
  return found.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

function served({ served: known }: Known, resource: ServedResource, object: ApiObject): ApiObject {
  let found = known.get(object);
  if (found === undefined) {
    found = toServed(resource as Parameters<typeof toServed>[0], cloneJson(object));
    known.set(object, found);
  }
  return found;
}
