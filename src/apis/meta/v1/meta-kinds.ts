import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './discovery.types.js';
import { listMeta, partialObjectMetadata } from './object-meta.types.js';
import { deleteOptions } from './options.types.js';
import { status } from './status.types.js';

/** The declarations that requests and answers of every group use. */
export const metaKinds = {
  status,
  deleteOptions,
  partialObjectMetadata,
  listMeta,
  apiVersions,
  apiGroup,
  apiGroupList,
  apiResourceList,
} as const;
