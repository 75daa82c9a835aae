import { createRequire } from 'node:module';
import type { FieldDescriptions } from '../../../../base/machinery/schema/index.js';
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
  descriptions: loadDescriptions,
} as const;

/** The module is kept by the loader: calls after the first cost nothing. */
function loadDescriptions(): FieldDescriptions {
  const module = createRequire(import.meta.url)(
    '../../descriptions/field-descriptions.js',
  ) as typeof import('../../descriptions/field-descriptions.js');
  return module.fieldDescriptions;
}
