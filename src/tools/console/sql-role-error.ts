import { SqlError } from './sql-error.js';

/** The role may do more than read: nobody may send queries as that role. */
export class SqlRoleError extends SqlError {}
