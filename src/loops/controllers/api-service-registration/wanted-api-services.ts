import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { CustomResourceDefinition } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import type { APIService } from '../../../objects/apis/apiregistration/v1/api-service.types.js';
import type { ServedGroup } from '../../../objects/registry/resource-registry.js';
import { customPriority, type LocalPriorities } from '../../../server/aggregation/local-priorities.js';

/** Label of the APIServices that the server keeps itself. */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged';

/** `onstart`: made once, then left to the administrator; `true`: always kept. */
export type Automanaged = 'onstart' | 'true';

/** The desired state of an APIService. */
export interface WantedApiService {
  readonly name: string;
  readonly automanaged: Automanaged;
  readonly spec: APIService['spec'];
}

export function wantedApiService(
  group: string,
  version: string,
  priority: { readonly group: number; readonly version: number },
  automanaged: Automanaged,
): WantedApiService {
  const spec = {
    ...(group === '' ? {} : { group }),
    version,
    groupPriorityMinimum: priority.group,
    versionPriority: priority.version,
  };
  return { name: `${version}.${group}`, automanaged, spec };
}

/** The APIServices of the built-in groups. The group of APIServices itself has none. */
export function builtInApiServices(groups: readonly ServedGroup[], priorities: LocalPriorities): WantedApiService[] {
  return groups
    .filter(({ group }) => group !== priorities.ownGroup)
    .flatMap(({ group, versions }) =>
      versions.flatMap((version) => {
        const priority = priorities.builtIn(group, version);
        return priority === undefined ? [] : [wantedApiService(group, version, priority, 'onstart')];
      }),
    );
}

/** The APIServices of a definition: one for each version that it serves. */
export function customApiServices(definition: ApiObject): WantedApiService[] {
  const { spec } = definition as ApiObject & CustomResourceDefinition;
  return (spec.versions ?? [])
    .filter(({ served }) => served)
    .map(({ name }) => wantedApiService(spec.group, name, customPriority, 'true'));
}

/** The APIServices that all definitions together want. Definitions of one group version want the same APIService. */
export class WantedByDefinitions {
  private readonly byDefinition = new Map<string, readonly WantedApiService[]>();
  private readonly byName = new Map<string, { readonly wanted: WantedApiService; readonly count: number }>();

  /** The names of all known definitions. */
  definitions(): string[] {
    return [...this.byDefinition.keys()];
  }

  /** The names of all APIServices that definitions want. */
  names(): Iterable<string> {
    return this.byName.keys();
  }

  find(name: string): WantedApiService | undefined {
    return this.byName.get(name)?.wanted;
  }

  /** Records what a definition wants from now on. Returns the names of the APIServices that it wanted or wants. */
  set(definition: string, wanted: readonly WantedApiService[]): ReadonlySet<string> {
    const before = this.byDefinition.get(definition) ?? [];
    if (wanted.length === 0) this.byDefinition.delete(definition);
    else this.byDefinition.set(definition, wanted);
    for (const one of wanted) {
      this.byName.set(one.name, { wanted: one, count: (this.byName.get(one.name)?.count ?? 0) + 1 });
    }
    for (const { name } of before) {
      const known = this.byName.get(name);
      if (known === undefined) continue;
      if (known.count === 1) this.byName.delete(name);
      else this.byName.set(name, { ...known, count: known.count - 1 });
    }
    return new Set([...before, ...wanted].map(({ name }) => name));
  }
}

/** Whether the server made the APIService, and how it keeps it. */
export function automanagedOf({ metadata }: ApiObject): Automanaged | undefined {
  const value = metadata.labels?.[automanagedLabel];
  return value === 'onstart' || value === 'true' ? value : undefined;
}

/** The action for an APIService. */
export type RegistrationStep = 'nothing' | 'create' | 'update' | 'delete';

/**
 * The action for an APIService, as upstream decides it. An APIService without the label belongs to somebody else and
 * stays unchanged. One that is kept `onstart` is corrected once, at the start.
 *
 * @param live the present object
 * @param wasCorrected whether it was made or corrected since the start
 * @param wasThere whether it existed at the start
 */
export function registrationStep(
  live: ApiObject | undefined,
  wanted: WantedApiService | undefined,
  wasCorrected: boolean,
  wasThere: boolean,
): RegistrationStep {
  if (wanted?.automanaged === 'onstart' && wasCorrected) return 'nothing';
  if (live === undefined) return wanted === undefined ? 'nothing' : 'create';
  const kept = automanagedOf(live);
  if (kept === undefined || (kept === 'onstart' && (wasCorrected || !wasThere))) return 'nothing';
  if (wanted === undefined) return 'delete';
  return isSpec(live as ApiObject & APIService, wanted.spec) ? 'nothing' : 'update';
}

function isSpec({ spec }: APIService, wanted: APIService['spec']): boolean {
  return (
    spec.service === undefined &&
    (spec.group ?? '') === (wanted.group ?? '') &&
    spec.version === wanted.version &&
    spec.groupPriorityMinimum === wanted.groupPriorityMinimum &&
    spec.versionPriority === wanted.versionPriority &&
    (spec.caBundle ?? '') === '' &&
    spec.insecureSkipTLSVerify !== true
  );
}
