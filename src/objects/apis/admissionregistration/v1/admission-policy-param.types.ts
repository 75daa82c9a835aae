import {
  enumOf,
  type Infer,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const paramKind = struct(
  'admissionregistration.v1.ParamKind',
  {
    apiVersion: optional(1, string),
    kind: optional(2, string),
  },
  { mapType: 'atomic' },
);
export type ParamKind = Infer<typeof paramKind>;

export const variable = struct(
  'admissionregistration.v1.Variable',
  {
    name: required(1, string, { protoName: 'Name' }),
    expression: required(2, string, { protoName: 'Expression', doc: 'CEL expression.' }),
  },
  { mapType: 'atomic' },
);
export type Variable = Infer<typeof variable>;

export const parameterNotFoundActionType = enumOf('Allow', 'Deny');
export type ParameterNotFoundActionType = Infer<typeof parameterNotFoundActionType>;

export const paramRef = struct(
  'admissionregistration.v1.ParamRef',
  {
    name: optional(1, string),
    namespace: optional(2, string),
    selector: pointer(3, labelSelector),
    parameterNotFoundAction: pointer(4, parameterNotFoundActionType),
  },
  { mapType: 'atomic' },
);
export type ParamRef = Infer<typeof paramRef>;
