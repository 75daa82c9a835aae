/** The database refuses the query; the message is the database's own. */
export class SqlError extends Error {}
