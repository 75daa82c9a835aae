import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { inTurns, type Steps } from '../../../base/machinery/turns.js';
import type { CustomResourceDefinition } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { partOf, type StoredResource } from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { AdmittedStore } from '../../../objects/registry/store/admitted-store.js';
import { recordFieldOwner } from '../../../objects/registry/store/field-owner.js';
import { type ReconcileContext, serverUser } from '../frame/reconcile-context.js';
import { type Pauses, ReconcileLoop, type Source } from '../frame/reconcile-loop.js';
import { reflectorSource } from '../frame/reflector-source.js';
import type { WorkOutcome } from '../work-queue.js';
import { workStore } from '../work-store.js';
import { AcceptedNames } from './accepted-names.js';
import { type DefinitionLoopDependencies, definitionsOf } from './definition-loop-dependencies.js';
import { type StateRules, stateOf } from './definition-state.js';
import { schemaFault } from './schema-faults.js';

type Definition = CustomResourceDefinition & ApiObject;

/** A generation of a definition, and the reason why its schemas are not structural. */
interface LookedAt {
  readonly uid: string | undefined;
  readonly generation: number;
  readonly fault: string | undefined;
}

/**
 * Writes the status of definitions: which of their names they get, whether they are established, and whether they have
 * the approval that their group needs. Works on one definition at a time, so that no two get the same name.
 */
export class DefinitionStatusController extends ReconcileLoop {
  readonly name = 'customresourcedefinition-status-controller';
  protected override readonly workers = 1;
  protected override readonly pauses: Pauses = { firstMs: 500, longestMs: 60_000 };
  private readonly store: AdmittedStore;
  /** The last known state of each definition, without its versions. */
  private readonly known = new Map<string, Definition>();
  private taken = new AcceptedNames();
  /** The result of checking the schemas of each definition, by its name. */
  private readonly faults = new Map<string, LookedAt>();

  /** @throws Error when the registry has no definitions. */
  constructor(dependencies: DefinitionLoopDependencies) {
    super(dependencies);
    this.store = workStore(definitionsOf(dependencies), dependencies);
  }

  protected override get user() {
    return serverUser;
  }

  protected override get queueName(): string {
    return 'crd_naming_condition_controller';
  }

  protected sources(): readonly Source[] {
    const sink = {
      reduce: (object: ApiObject) => inTurns(this.looked(object)),
      replace: (objects: readonly ApiObject[], at: bigint) => {
        const newest = objects.map((object) => this.newest(atVersion(object, at)));
        this.known.clear();
        this.taken = new AcceptedNames(builtInKinds(this.dependencies.registry));
        // Names that were assigned before take precedence.
        for (const definition of newest) this.taken.set(definition);
        for (const definition of newest) this.notice(definition);
      },
      set: (object: ApiObject, at: bigint) => this.notice(atVersion(object, at)),
      delete: (_namespace: string, name: string) => {
        const gone = this.known.get(name);
        this.known.delete(name);
        this.faults.delete(name);
        this.taken.delete(name);
        if (gone !== undefined) this.lookAgain(gone.spec.group);
      },
    };
    return [reflectorSource(this.dependencies, this.store.resource.storageResource, sink)];
  }

  /** A change may arrive after a later write of our own that assigned names. */
  private newest(definition: Definition): Definition {
    const known = this.known.get(definition.metadata.name ?? '');
    return known !== undefined && versionOf(known) > versionOf(definition) ? known : definition;
  }

  private notice(object: Definition): void {
    const definition = this.newest(object);
    const name = definition.metadata.name ?? '';
    this.known.set(name, definition);
    const isChanged = this.taken.set(definition);
    if (stateOf(definition, this.rules(definition)) !== definition.status) this.enqueue(name);
    if (isChanged) this.lookAgain(definition.spec.group);
  }

  /** Names of the group may have become free: every definition that lacks one tries again. */
  private lookAgain(group: string): void {
    for (const [name, definition] of this.known) {
      if (definition.spec.group !== group || isContent(definition)) continue;
      if (stateOf(definition, this.rules(definition)) !== definition.status) this.enqueue(name);
    }
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const known = this.known.get(name);
    if (known === undefined) return 'done';
    let written: Definition | undefined;
    const { registry, timers, names } = this.dependencies;
    const part = partOf(this.store.resource.definition, 'status');
    try {
      const { resourceVersion } = await this.store.update(work.context, '', name, {
        subresource: part,
        transform: (live) => {
          if (live?.metadata.uid !== known.metadata.uid) throw new Superseded();
          const definition = live as Definition;
          const status = stateOf(definition, this.rules(definition));
          if (status === definition.status) throw new Superseded();
          written = { ...definition, metadata: { ...definition.metadata }, status };
          const owner = { registry, manager: names.fieldManagers.server, time: formatTime(timers.now()) };
          recordFieldOwner(this.store.resource, owner, definition, written, part);
          return written;
        },
      });
      if (written !== undefined) written.metadata.resourceVersion = String(resourceVersion);
    } catch (error) {
      // A newer state arrives as a change of its own.
      const isGone = error instanceof StatusError && error.reason === 'NotFound';
      if (!isGone && !(error instanceof Superseded)) throw error;
      return 'done';
    }
    // The next definition must not get one of these names before this change comes back.
    if (written !== undefined && this.known.has(name)) this.notice(withoutVersions(written) as Definition);
    return 'done';
  }

  private rules({ metadata }: Definition): StateRules {
    const { names, timers } = this.dependencies;
    const schemaFault = this.faults.get(metadata.name ?? '')?.fault;
    return { taken: this.taken, names, now: timers.now(), schemaFault };
  }

  /** Schemas may be long: they are checked once, and not kept. */
  private *looked(object: ApiObject): Steps<ApiObject> {
    const definition = object as Definition;
    const { name = '', uid, generation } = definition.metadata;
    const looked = this.faults.get(name);
    if (looked?.uid !== uid || looked?.generation !== Number(generation)) {
      this.faults.set(name, { uid, generation: Number(generation), fault: yield* schemaFault(definition) });
    }
    return withoutVersions(object);
  }
}

function withoutVersions(object: ApiObject): ApiObject {
  const definition = object as Definition;
  return { ...definition, spec: { ...definition.spec, versions: null } } as ApiObject;
}

/** The definition changed meanwhile, or another process has done the work. */
class Superseded extends Error {}

function isContent({ status }: Definition): boolean {
  return status.conditions?.some(({ type, status: value }) => type === 'NamesAccepted' && value === 'True') === true;
}

/** Stored JSON lacks the resourceVersion, without which no change would count as newer than a write of our own. */
function atVersion(object: ApiObject, at: bigint): Definition {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(at) } } as Definition;
}

function versionOf({ metadata }: Definition): bigint {
  return BigInt(metadata.resourceVersion ?? 0);
}

/** The built-in kinds, without the custom ones. */
export function builtInKinds(registry: ResourceRegistry) {
  return registry.definitions().filter((definition) => (definition as Partial<StoredResource>).definedBy === undefined);
}
