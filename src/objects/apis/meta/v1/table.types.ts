import {
  always,
  anyJson,
  enumOf,
  type Infer,
  int32,
  kind,
  list,
  optional,
  rawExtension,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { conditionStatus } from './condition.types.js';
import { listMeta } from './object-meta.types.js';

export const tableColumnDefinition = struct('meta.v1.TableColumnDefinition', {
  name: required(1, string),
  type: required(2, string),
  format: required(3, string),
  description: required(4, string),
  priority: required(5, int32),
});
export type TableColumnDefinition = Infer<typeof tableColumnDefinition>;

export const rowConditionType = enumOf('Completed');
export type RowConditionType = Infer<typeof rowConditionType>;

export const tableRowCondition = struct(
  'meta.v1.TableRowCondition',
  {
    type: required(1, rowConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    reason: optional(3, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(4, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type TableRowCondition = Infer<typeof tableRowCondition>;

export const tableRow = struct('meta.v1.TableRow', {
  cells: required(1, list(anyJson)),
  conditions: optional(2, list(tableRowCondition), { doc: 'Aspects of the state, each with its reason.' }),
  object: always(3, rawExtension),
});
export type TableRow = Infer<typeof tableRow>;

export const table = kind(
  { group: '', version: 'v1', kind: 'Table' },
  {
    metadata: always(1, listMeta),
    columnDefinitions: required(2, list(tableColumnDefinition)),
    rows: required(3, list(tableRow)),
  },
  { name: 'meta.v1.Table', doc: 'Objects as rows, for showing them.' },
);
export type Table = Infer<typeof table>;
