import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { GroupResource } from '../../../../base/machinery/group-version.js';
import type { ReadLister, SharedListers } from '../../../../objects/registry/informers/shared-listers.js';
import type { AdmissionAttributes } from '../../attributes.js';
import { refused } from '../../refused.js';

/** The data kept of a class. */
export interface KnownClass {
  readonly name: string;
  readonly isDefault: boolean;
}

/** The classes of one kind, one of which an annotation makes the default (specification 5.5). */
export class DefaultClasses {
  private readonly classes: Pick<ReadLister<KnownClass>, 'all'>;

  /** @param annotations the keys that make a class the default with the value `true`. */
  constructor(
    listers: Pick<SharedListers, 'of'>,
    resource: GroupResource,
    annotations: readonly string[],
    private readonly kind: string,
  ) {
    this.classes = listers.of(resource, ({ metadata }: ApiObject) => ({
      name: metadata.name ?? '',
      isDefault: annotations.some((key) => metadata.annotations?.[key] === 'true'),
    }));
  }

  /**
   * The name of the default class; undefined when there is none.
   *
   * @throws StatusError when there are several: the administrator has to choose.
   */
  choose(attributes: AdmissionAttributes): string | undefined {
    let found: string | undefined;
    let count = 0;
    for (const { name, isDefault } of this.classes.all()) {
      if (!isDefault) continue;
      found = name;
      count += 1;
    }
    if (count <= 1) return found;
    throw refused(attributes, `Internal error occurred: ${count} default ${this.kind} were found`);
  }
}
