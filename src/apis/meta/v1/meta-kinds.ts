import { createRequire } from 'node:module';
import type { SchemaTexts } from '../../../machinery/schema/index.js';
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
  texts: loadTexts,
} as const;

/** The module is kept by the loader: calls after the first cost nothing. */
function loadTexts(): SchemaTexts {
  const module = createRequire(import.meta.url)('../../texts/index.js') as typeof import('../../texts/index.js');
  return module.schemaTexts;
}
