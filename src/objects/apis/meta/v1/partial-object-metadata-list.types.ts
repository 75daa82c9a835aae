import type { Infer } from '../../../../base/machinery/schema/index.js';
import { listKind } from './list-kind.types.js';
import { partialObjectMetadata } from './object-meta.types.js';

export const partialObjectMetadataList = listKind(partialObjectMetadata, { name: 'meta.v1.PartialObjectMetadataList' });
export type PartialObjectMetadataList = Infer<typeof partialObjectMetadataList>;
