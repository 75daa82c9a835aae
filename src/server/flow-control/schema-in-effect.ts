import type { RequestInfo, UserInfo } from '../../base/machinery/request-context.js';
import type { FlowSchema } from '../../objects/apis/flowcontrol/v1/flow-schema.types.js';
import type { FlowHash } from './flow-hash.js';
import type { FlowHasher } from './flow-hasher.js';
import { type FlowMatcher, matcherOf } from './flow-matcher.js';
import type { FlowSeries } from './flow-series.js';
import type { PriorityLevel } from './priority-level.js';

/** The configuration of a schema. */
export interface SchemaSettings {
  readonly name: string;
  /** Empty for a schema that exists in this process only, until its object is created. */
  readonly uid: string;
  readonly spec: FlowSchema['spec'];
}

/** Number of flow hashes that each schema caches. */
const rememberedFlows = 1000;

/** A schema that sorts requests into a level. */
export class SchemaInEffect {
  readonly matches: FlowMatcher;
  private readonly distinguish: 'ByUser' | 'ByNamespace' | undefined;
  private readonly hashes = new Map<string, FlowHash>();

  readonly name: string;
  readonly uid: string;
  readonly spec: FlowSchema['spec'];

  constructor(
    { name, uid, spec }: SchemaSettings,
    readonly level: PriorityLevel,
    readonly series: FlowSeries,
    private readonly hasher: FlowHasher,
  ) {
    this.name = name;
    this.uid = uid;
    this.spec = spec;
    this.matches = matcherOf({ spec });
    this.distinguish = spec.distinguisherMethod?.type as 'ByUser' | 'ByNamespace' | undefined;
  }

  /** The value that distinguishes the flow of the request from other flows of the schema. */
  distinguisherOf(user: UserInfo, { namespace }: RequestInfo): string {
    if (this.distinguish === 'ByUser') return user.name;
    return this.distinguish === 'ByNamespace' ? namespace : '';
  }

  hashOf(distinguisher: string): FlowHash {
    let hash = this.hashes.get(distinguisher);
    if (hash === undefined) {
      const { hasher, name } = this;
      hash = this.distinguish === 'ByUser' ? hasher.ofUser(name, distinguisher) : hasher.of(name, distinguisher);
      if (this.hashes.size >= rememberedFlows) this.hashes.clear();
      this.hashes.set(distinguisher, hash);
    }
    return hash;
  }
}

/** Sorts by precedence, lowest first, and then by name. */
export function compareSchemas(a: SchemaInEffect, b: SchemaInEffect): number {
  return a.spec.matchingPrecedence - b.spec.matchingPrecedence || (a.name < b.name ? -1 : 1);
}
