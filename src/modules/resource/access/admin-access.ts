import { type FieldError, type FieldPath, forbidden } from '../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { ObjectReader } from '../../../objects/registry/store/storage-reader.js';

/** Whether claims of a namespace may have devices that others use: its label says so. */
export class AdminAccess {
  private readonly label: string;

  constructor(
    names: VendorNames,
    private readonly objects: ObjectReader,
  ) {
    this.label = `resource.${names.labelPrefix}/admin-access`;
  }

  /** Broken rules of something in a namespace that asks for it at `path`. */
  async check(namespace: string, path: FieldPath): Promise<FieldError[]> {
    const found = await this.objects.read({ group: '', resource: 'namespaces' }, '', namespace);
    if (found?.metadata.labels?.[this.label] === 'true') return [];
    const detail = `admin access to devices requires the \`${this.label}: true\` label on the containing namespace`;
    return [forbidden(path, detail)];
  }
}
