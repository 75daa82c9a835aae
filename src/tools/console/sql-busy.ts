/** Other users occupy all connections, or the user has too many queries under way. */
export class SqlBusy extends Error {}
