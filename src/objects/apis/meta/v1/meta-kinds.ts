import { createRequire } from 'node:module';
import type { FieldDescriptions, PublishedInfo } from '../../../../base/machinery/schema/index.js';
import { apiGroupDiscovery } from '../../apidiscovery/v2/api-group-discovery.types.js';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './discovery.types.js';
import { listMeta, partialObjectMetadata } from './object-meta.types.js';
import { deleteOptions } from './options.types.js';
import { status } from './status.types.js';
import { versionInfo } from './version-info.types.js';
import { watchEvent } from './watch-event.types.js';

/** The declarations of the kinds that requests and responses of every group use. */
export const metaKinds = {
  status,
  deleteOptions,
  partialObjectMetadata,
  listMeta,
  watchEvent,
  versionInfo,
  apiVersions,
  apiGroupDiscovery,
  apiGroup,
  apiGroupList,
  apiResourceList,
  descriptions: loadDescriptions,
  published: loadPublished,
} as const;

/** The loader caches the module, so calls after the first cost nothing. */
function loadDescriptions(): FieldDescriptions {
  const module = createRequire(import.meta.url)(
    '../../descriptions/field-descriptions.js',
  ) as typeof import('../../descriptions/field-descriptions.js');
  return module.fieldDescriptions;
}

function loadPublished(): PublishedInfo {
  const module = createRequire(import.meta.url)(
    '../../published/published-info.js',
  ) as typeof import('../../published/published-info.js');
  return module.publishedInfo;
}
