import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type LabelSelector, nothing, SelectorError } from '../../../base/machinery/label-selector.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import { controllerOf } from './indexes.js';
import { keyOf } from './reconcile-loop.js';

/**
 * Compiles the selector of each object once. An invalid selector, stored before its validation rule existed, selects
 * nothing.
 */
export function rememberedSelectors<T extends ApiObject>(
  compile: (object: T) => LabelSelector,
): (object: T) => LabelSelector {
  const known = new WeakMap<T, LabelSelector>();
  return (object) => {
    let selector = known.get(object);
    if (selector === undefined) {
      selector = validOrNothing(() => compile(object));
      known.set(object, selector);
    }
    return selector;
  };
}

function validOrNothing(compile: () => LabelSelector): LabelSelector {
  try {
    return compile();
  } catch (error) {
    if (error instanceof SelectorError) return nothing;
    throw error;
  }
}

/**
 * The key of the object of this kind that manages another object; undefined when something else or nothing manages it.
 */
export function ownerKey(object: ApiObject, kind: string): string | undefined {
  const owner = controllerOf(object);
  return owner?.kind === kind ? `${object.metadata.namespace}/${owner.name}` : undefined;
}

/** The keys of the objects of this kind that manage an object, or did before a change of it. */
export function ownerKeys(object: ApiObject | undefined, old: ApiObject | undefined, kind: string): readonly string[] {
  const now = object && ownerKey(object, kind);
  const before = old && ownerKey(old, kind);
  return [...new Set([now, before])].filter((key) => key !== undefined);
}

/** Objects that manage others, and the objects that they select. */
export interface Choosers<T extends ApiObject> {
  readonly kind: string;
  readonly informer: Informer<T>;
  chooses(chooser: T, object: ApiObject): boolean;
}

/**
 * The keys of the managers that a change of an object concerns: the present and the former manager, and those that may
 * want to adopt it.
 */
export function* concernedBy<T extends ApiObject>(
  { kind, informer, chooses }: Choosers<T>,
  object: ApiObject | undefined,
  old: ApiObject | undefined,
): Generator<string> {
  yield* ownerKeys(object, old, kind);
  if (object === undefined || controllerOf(object) !== undefined) return;
  for (const chooser of informer.inNamespace(object.metadata.namespace ?? '')) {
    if (chooses(chooser, object)) yield keyOf(chooser);
  }
}
