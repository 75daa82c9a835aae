import type { FieldDescriptions, KindType, PublishedInfo, StructType } from '../../base/machinery/schema/index.js';

/**
 * Kinds that the endpoints need, whatever groups are served. They belong to the API types, which only the application
 * as a whole imports, so they are passed in at start.
 */
export interface MetaKinds {
  readonly status: KindType;
  readonly deleteOptions: KindType;
  readonly partialObjectMetadata: KindType;
  readonly listMeta: StructType;
  readonly watchEvent: StructType;
  readonly versionInfo: StructType;
  readonly apiVersions: KindType;
  /** An item of aggregated discovery. */
  readonly apiGroupDiscovery: KindType;
  readonly apiGroup: KindType;
  readonly apiGroupList: KindType;
  readonly apiResourceList: KindType;
  /**
   * Field descriptions for declarations that have none of their own. Loaded on the first call; only OpenAPI documents
   * need them.
   */
  readonly descriptions: () => FieldDescriptions;
  /** Further published definitions of the reference besides the declarations; loaded on the first call too. */
  readonly published: () => PublishedInfo;
}
