import type { FunctionTable } from '../function-table.js';
import type { CelType } from '../values/cel-type.js';

/** A type whose values `Name{...}` constructs. */
export interface MessageType {
  /** The type of a field; undefined if there is no such field. */
  field(name: string): CelType | undefined;
  /** Why a value of this type can't be the value of a field; undefined if it can. */
  refuse?(field: string, value: CelType): string | undefined;
}

/** The meanings of the names in an expression. */
export interface CelEnvironment {
  readonly variables: Readonly<Record<string, CelType>>;
  readonly functions: FunctionTable;
  /**
   * The type whose declared sizes bound the values of the variables in cost estimates. Default: nothing bounds them.
   */
  readonly declared?: CelType;
  /** Types that expressions may construct; default: none. */
  readonly messages?: (name: string) => MessageType | undefined;
  /** Whether `cel.bind(name, value, body)` names a value. Default: no. */
  readonly hasBindings?: boolean;
  /** Whether the elements of a list or map may be of different types. Default: no. */
  readonly mixedLiterals?: boolean;
}
