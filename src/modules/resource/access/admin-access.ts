import { type FieldError, type FieldPath, forbidden } from '../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { ObjectReader } from '../../../objects/registry/store/storage-reader.js';

/** Checks whether claims of a namespace may use devices that others use: the label of the namespace decides. */
export class AdminAccess {
  private readonly label: string;

  constructor(
    names: VendorNames,
    private readonly objects: ObjectReader,
  ) {
    this.label = `resource.${names.labelPrefix}/admin-access`;
  }

  /** Checks a request for admin access at `path` of an object in the namespace. */
  async check(namespace: string, path: FieldPath): Promise<FieldError[]> {
    const found = await this.objects.read({ group: '', resource: 'namespaces' }, '', namespace);
    if (found?.metadata.labels?.[this.label] === 'true') return [];
    const detail = `admin access to devices requires the \`${this.label}: true\` label on the containing namespace`;
    return [forbidden(path, detail)];
  }
}
