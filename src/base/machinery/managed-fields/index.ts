export { checkApplied } from './applied-config.js';
export { type ApplyPatchOptions, type ApplyResult, applyPatch } from './apply-patch.js';
export { conflictsError, type FieldConflict } from './conflicts.js';
export { withoutTimeChanges } from './times.js';
export {
  type ManagedFieldsOptions,
  type OwnershipRules,
  updateManagedFields,
  type VersionView,
} from './update-managed-fields.js';
