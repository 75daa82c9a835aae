/**
 * One declaration per API type.
 *
 * A declaration is plain data made by the functions of `builder.ts`; its static type comes with it:
 *
 *     export const container = struct('Container', {
 *       name: required(1, string),
 *       resources: always(8, resourceRequirements),
 *       ports: optional(6, list(containerPort), {
 *         listType: 'map', listKeys: ['containerPort', 'protocol'], patch: { strategy: 'merge', key: 'containerPort' },
 *       }),
 *     });
 *     export type Container = Infer<typeof container>;
 *
 * The first argument of a field is its protobuf number; the function shows how the field appears in the canonical form
 * (see {@link Presence}). To walk an object beside its declaration: `resolveType(type)` removes lazy references, then
 * switch on `type` (`scalar enum list map struct variant`); `jsonFields(struct)` gives the fields by JSON name with
 * inline structs expanded, and each field its `type`, `listType`, `listKeys`, `mapType`, `patch` and `default`. List and
 * map options belong to the field, not to the list type. A struct with `mapType: 'atomic'` is atomic wherever it is used.
 */
export * from './access.js';
export * from './builder.js';
export * from './declared-order.js';
export * from './decode.js';
export * from './decode-error.js';
export { exceedsDepth, maxDepth, maxSelfNesting } from './depth.js';
export * from './duplicate-keys.js';
export { isFieldGateOpen, openFieldGates } from './field-gates.js';
export { emptyListPaths, givenBody } from './given-body.js';
export * from './openapi-builder.js';
export * from './types.js';
export { restoreDetail, unmarshalDetail } from './unmarshal-error.js';
