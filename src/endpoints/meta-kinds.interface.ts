import type { FieldDescriptions, KindType, StructType } from '../machinery/schema/index.js';

/**
 * Declarations that the endpoints need themselves, whatever groups are served. They belong to the API types, which only
 * the application as a whole knows, so they are handed in at start.
 */
export interface MetaKinds {
  readonly status: KindType;
  readonly deleteOptions: KindType;
  readonly partialObjectMetadata: KindType;
  readonly listMeta: StructType;
  readonly apiVersions: KindType;
  readonly apiGroup: KindType;
  readonly apiGroupList: KindType;
  readonly apiResourceList: KindType;
  /** Descriptions of declarations that have none; loaded by the first call, which only OpenAPI documents make. */
  readonly descriptions: () => FieldDescriptions;
}
