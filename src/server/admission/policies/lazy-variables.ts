import type { ApiObject } from '../../../base/machinery/api-object.js';
import {
  type Budget,
  CelError,
  type CelJsonObject,
  type CompiledText,
  LazyObject,
  type PolicyVariable,
  Timestamp,
  type Value,
} from '../../../objects/cel/index.js';

/** The value of `variables`: each variable of a policy is computed when it is first used, once for a request. */
export class LazyVariables extends LazyObject {
  private readonly known = new Map<string, Value | CelError>();
  private readonly sources: ReadonlyMap<string, CompiledText>;
  /** The variables that expressions of variables may name. Set after construction, since it contains this object. */
  scope: Readonly<Record<string, Value>> = {};

  constructor(variables: readonly (PolicyVariable & CompiledText)[]) {
    super();
    this.sources = new Map(variables.map((variable) => [variable.name, variable]));
  }

  get(field: string, budget: Budget): Value | undefined {
    const known = this.known.get(field);
    if (known instanceof CelError) throw known;
    if (known !== undefined) return known;
    const source = this.sources.get(field);
    if (source === undefined) return undefined;
    try {
      const value = this.compute(field, source, budget);
      this.known.set(field, value);
      return value;
    } catch (error) {
      // Other errors are not cached: an interrupted evaluation is repeated, and an exceeded budget ends all
      // evaluations.
      if (error instanceof CelError) this.known.set(field, error);
      throw error;
    }
  }

  private compute(field: string, source: CompiledText, budget: Budget): Value {
    if ('fault' in source) throw new CelError(`composited variable "${field}" fails to compile: ${source.fault}`);
    try {
      return source.program.evaluate(this.scope, budget);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      throw new CelError(`composited variable "${field}" fails to evaluate: ${error.message}`);
    }
  }
}

/** The value of `namespaceObject`: the fields that expressions may read. */
export function namespaceValue(namespace: ApiObject | undefined): Value {
  if (namespace === undefined) return null;
  const { metadata, spec, status } = namespace as ApiObject & { spec?: CelJsonObject; status?: CelJsonObject };
  const { creationTimestamp, deletionTimestamp, uid, ...rest } = metadata;
  const fields = [
    'name',
    'generateName',
    'labels',
    'annotations',
    'generation',
    'resourceVersion',
    'finalizers',
  ] as const;
  const shown: Record<string, unknown> = uid === undefined ? {} : { UID: uid };
  for (const field of fields) if (rest[field] !== undefined) shown[field] = rest[field];
  if (creationTimestamp) shown.creationTimestamp = Timestamp.parse(creationTimestamp);
  if (deletionTimestamp) shown.deletionTimestamp = Timestamp.parse(deletionTimestamp);
  return { metadata: shown, spec: spec ?? {}, status: status ?? {} };
}
