export { goPrint } from './go-print.js';
export { applyJsonPatch } from './json-patch.js';
export { applyMergePatch } from './merge-patch.js';
export { PatchError, type PatchErrorReason } from './patch-error.js';
export { applyStrategicMergePatch } from './strategic-merge-patch.js';
