export {
  type ManagedFieldsOptions,
  updateManagedFields,
  type VersionView,
} from './update-managed-fields.js';
