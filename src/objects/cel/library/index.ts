import { type FunctionTable, functionTable } from '../function-table.js';
import { addresses } from './addresses.js';
import { authorizers } from './authorizers.js';
import { basics } from './basics.js';
import { conversions } from './conversions.js';
import { formats } from './formats.js';
import { lists, sets } from './lists.js';
import { quantities } from './quantities.js';
import { regularExpressions } from './regular-expressions.js';
import { semanticVersions } from './semantic-versions.js';
import { strings } from './strings.js';
import { urls } from './urls.js';

/** Every function that expressions of the API may use (specification 5.10, as the newest release has it). */
export const apiFunctions: FunctionTable = functionTable([
  conversions,
  basics,
  strings,
  regularExpressions,
  lists,
  sets,
  quantities,
  urls,
  addresses,
  semanticVersions,
  formats,
  authorizers,
]);
